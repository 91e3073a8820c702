import type { Migration } from '../migrate.ts';
import { tables } from './postgres/0001-tables.ts';
import { rowSecurity } from './postgres/0002-row-security.ts';

/** All steps of a PostgreSQL database, oldest first. A released step is never changed. */
export const postgresMigrations: readonly Migration[] = [tables, rowSecurity];
