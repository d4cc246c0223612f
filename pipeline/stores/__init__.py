"""Operations on a store besides running it: info, verify, repair, append, export."""
