import { measureIngest } from './server/ingest.ts';

/** What `npm run bench` says of this benchmark. */
export const description: string = 'durable ingest, flat reads and constant memory of the server';

/** Runs the parts that are named in `args`, or all. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const ingest = await measureIngest(5, 2000);
  if (!args.includes('--json')) console.table(ingest);
  return { ingest };
}
