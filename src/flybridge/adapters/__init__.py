"""One front end's protocol each, as requests and deliveries of ours; pure."""
