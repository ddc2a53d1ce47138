"""Every algorithm; nothing here knows Prefect."""
