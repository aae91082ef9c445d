"""A durable agent over HTTP: starlette, uvicorn, one process, one file."""
