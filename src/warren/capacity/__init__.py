"""What the history tells about capacity: `rates` measures, `sizing` says what is needed, `findings` what is odd."""
