/** `true` if a database is PostgreSQL; `false` for an SQLite path. */
export function isPostgresUrl(database: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(database);
}

/**
 * `true` if a database is given by an address that is not supported. This includes `file:`: SQLite reads it as a URI,
 * while the files beside the database are looked up by path.
 */
export function isUnsupportedAddress(database: string): boolean {
  return !isPostgresUrl(database) && /^(?:\w+:\/\/|file:)/i.test(database);
}

/** Returns a database's address for users and logs, without user, password and parameters. */
export function redactedDatabase(database: string): string {
  if (!isPostgresUrl(database)) return database;
  if (!URL.canParse(database)) return 'PostgreSQL';
  const { host, pathname } = new URL(database);
  return `postgres://${host}${pathname}`;
}
