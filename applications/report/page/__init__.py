"""The page of a report: its parts, their interactive figures, and the HTML file that they become."""

from robots.extras import require_extra

require_extra("plotly")  # before the modules of this package import it
