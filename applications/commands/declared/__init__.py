"""Commands as data: names, texts, arguments and options. Their bodies are elsewhere, imported when they are called.

So the command line starts at once, whatever its bodies need, and these import what they need at their top.
"""
