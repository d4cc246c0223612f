"""The page of a report: its parts, their interactive figures, and the HTML file that they become."""
