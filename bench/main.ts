// `npm run bench` lists the benchmarks; `npm run bench -- NAME [--json] [OPTIONS]` runs one.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Exports of a benchmark file in this folder. */
interface Benchmark {
  readonly description: string;
  run(args: string[]): Promise<Record<string, unknown>>;
}

const folder = import.meta.dirname;

function names(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'main.ts')
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
}

function load(name: string): Promise<Benchmark> {
  return import(pathToFileURL(join(folder, `${name}.ts`)).href) as Promise<Benchmark>;
}

async function list(): Promise<void> {
  console.log('Benchmarks (npm run bench -- NAME [--json]):\n');
  for (const name of names()) console.log(`  ${name.padEnd(12)} ${(await load(name)).description}`);
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined) {
  await list();
} else if (!existsSync(join(folder, `${name}.ts`)) || !names().includes(name)) {
  console.error(`Unknown benchmark "${name}"; use one of ${names().join(', ')}.`);
  process.exitCode = 1;
} else {
  const result = await (await load(name)).run(args);
  if (args.includes('--json')) console.log(JSON.stringify(result));
}
