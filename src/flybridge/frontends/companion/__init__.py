"""The companion front end: sessions as slots of small devices that show and answer prompts."""
