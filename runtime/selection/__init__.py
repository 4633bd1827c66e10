"""Which of several variants of a kernel runs, where all of them give the same bits."""
