"""Emit matrix products: functions that pack a region's operands and multiply tiles."""
