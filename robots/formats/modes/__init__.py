"""Working and assembly modes by name: `asked` says which, the others find them in numbers."""
