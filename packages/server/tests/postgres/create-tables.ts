// Creates the tables of the database whose address is the first argument.
import { openStorage } from '../../src/open-storage.ts';

const [database] = process.argv.slice(2);
if (database === undefined)
  throw new Error('The address of a database is missing: pass it as the first argument.');
await (await openStorage({ database })).close();
