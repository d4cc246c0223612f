"""Operations of programs, counted, and what a core can do at all."""
