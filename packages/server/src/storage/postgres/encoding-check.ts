import { sql } from 'kysely';
import type { Database } from '../transaction.ts';

/** Encodings that hold every text: `SQL_ASCII` keeps the bytes that it is given. */
const wholeEncodings = ['UTF8', 'SQL_ASCII'];

/**
 * Makes sure that the database can hold what agents write.
 *
 * @throws Error when its encoding lacks characters.
 */
export async function checkEncoding(db: Database): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`select getdatabaseencoding() as encoding`.execute(db);
  const { encoding } = rows[0] as { encoding: string };
  if (wholeEncodings.includes(encoding)) return;
  throw new Error(
    `The database has the encoding "${encoding}", which cannot hold every text. Give the server one with UTF8, and restore into it what pg_dump has copied: create database actlog owner actlog encoding 'UTF8' locale 'C' template template0;`,
  );
}
