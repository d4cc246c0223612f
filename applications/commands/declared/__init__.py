"""Commands as data: names, texts, arguments and options. Their bodies are elsewhere, imported when they are called.

So the command line starts at once, and the bodies import their needs at their top.
"""
