import { relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';

/** One-line description of this benchmark. */
export const description = 'Size of the client, minified and gzipped, without undici, and what it is made of';

/**
 * Size budget of the client's core. What describes a failure is part of it: a process without free file descriptors, or a
 * page that is offline, could not load it when a request fails.
 */
const limitBytes = 15_000;

/** Sizes of a bundle: the initial load, and the parts that the client loads on demand. */
interface Bundle {
  readonly minifiedBytes: number;
  readonly gzippedBytes: number;
  readonly onDemandGzippedBytes: number;
  readonly metafile: Metafile;
}

/** Bundles code like an application, and returns its size. */
async function weigh(code: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    conditions: ['@actlog/source'],
    external: ['undici'],
    outdir: 'out',
    absWorkingDir: import.meta.dirname,
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const bytesOf = new Map(
    outputFiles.map(({ path, contents }) => [relative(import.meta.dirname, path), contents]),
  );
  const atStart = filesAtStart(metafile);
  const gzipped = (paths: string[]) =>
    gzipSync(Buffer.concat(paths.map((path) => bytesOf.get(path) ?? new Uint8Array())), { level: 9 }).length;
  return {
    minifiedBytes: atStart.reduce((sum, path) => sum + (bytesOf.get(path)?.length ?? 0), 0),
    gzippedBytes: gzipped(atStart),
    onDemandGzippedBytes: gzipped([...bytesOf.keys()].filter((path) => !atStart.includes(path))),
    metafile,
  };
}

/** Returns the entry and everything that it imports statically. */
function filesAtStart({ outputs }: Metafile): string[] {
  const found = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>');
  for (const path of found) {
    for (const { path: imported, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external && !found.includes(imported)) found.push(imported);
    }
  }
  return found;
}

/** Returns the minified bytes of each package. */
function byPackage({ outputs }: Metafile): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const [path, { bytesInOutput }] of Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs),
  )) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(path)?.[1];
    const own = /packages\/([^/]+)\//.exec(path)?.[1];
    const key = name ?? (own ? `@actlog/${own}` : 'entry');
    sizes[key] = (sizes[key] ?? 0) + bytesInOutput;
  }
  return sizes;
}

/** Runs the benchmark; `--json` omits the table. Fails when the core is over its budget. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const whole = await weigh("export * from '@actlog/client'");
  const errorsOnly = await weigh("export { ActlogError } from '@actlog/client'");
  const webhooksOnly = await weigh("export { Webhooks } from '@actlog/client'");
  const row = ({ metafile: _unused, ...sizes }: Bundle) => sizes;
  const sizes = {
    'the client': { ...row(whole), limitBytes },
    'only Webhooks': row(webhooksOnly),
    'only ActlogError': row(errorsOnly),
  };
  const parts = byPackage(whole.metafile);
  if (!args.includes('--json')) {
    console.table(sizes);
    console.table(parts);
  }
  if (whole.gzippedBytes > limitBytes) process.exitCode = 1;
  return { sizes, minifiedBytesByPackage: parts };
}
