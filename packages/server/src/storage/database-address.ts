/** Whether a database is PostgreSQL; a path of SQLite otherwise. */
export function isPostgresUrl(database: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(database);
}

/**
 * Whether a database is given by an address of another kind. That goes for `file:` too: SQLite takes it for an address,
 * while everything that lies beside the database is looked for at a path.
 */
export function isForeignAddress(database: string): boolean {
  return !isPostgresUrl(database) && /^(?:\w+:\/\/|file:)/i.test(database);
}

/** A database as people and logs may see it: without user, password and parameters. */
export function shownDatabase(database: string): string {
  if (!isPostgresUrl(database)) return database;
  if (!URL.canParse(database)) return 'PostgreSQL';
  const { host, pathname } = new URL(database);
  return `postgres://${host}${pathname}`;
}
