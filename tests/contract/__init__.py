"""What every adapter, provider and store must do."""
