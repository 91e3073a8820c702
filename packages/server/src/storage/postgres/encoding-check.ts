import { sql } from 'kysely';
import type { Database } from '../transaction.ts';

/** Encodings that can store any text. `SQL_ASCII` stores bytes unchanged. */
const supportedEncodings = ['UTF8', 'SQL_ASCII'];

/**
 * Checks that the database can store any text.
 *
 * @throws Error when its encoding lacks characters.
 */
export async function checkEncoding(db: Database): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`select getdatabaseencoding() as encoding`.execute(db);
  const { encoding } = rows[0] as { encoding: string };
  if (supportedEncodings.includes(encoding)) return;
  throw new Error(
    `The database has the encoding "${encoding}", which cannot store every text. Create a database with UTF8, and restore a pg_dump of this one into it: create database actlog owner actlog encoding 'UTF8' locale 'C' template template0;`,
  );
}
