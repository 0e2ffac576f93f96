"""The core: decides what happens and folds what happened. Pure: no clock, no chance, no I/O."""
