"""Macros of robot files, the language of xacro: `expressions` computes, `expansion` makes plain elements of them."""
