"""Builder of the wheel: the packages of this repository under one name, `limbsweep`. Nothing else imports this."""
