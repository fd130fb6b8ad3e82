"""Runs alembic's scripts on the connection that `site_database.migrate` hands over."""

from alembic import context

from memory_node.store.schema import metadata

if __name__ == "env_py":  # the name that alembic runs it by; importing it anywhere else does nothing
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        render_as_batch=context.config.attributes["connection"].dialect.name == "sqlite",
    )
    context.run_migrations()
