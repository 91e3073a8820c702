import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Actlog, InvalidArgumentError } from '@actlog/client';
import { decodeText } from '@actlog/recorder/short-lived';
import { InterruptedError, UsageError } from '../errors/usage-error.ts';
import { canPrompt } from '../terminal/confirm.ts';
import { type Adapter, adapters, loop } from './adapters.ts';

/** Address of a server that `actlog serve` starts. */
const localAddress = 'http://127.0.0.1:8787';

/** Settings that are known before anything is asked. */
export interface GivenSettings {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  /** `true` takes the defaults. */
  readonly yes: boolean;
}

/** Address of the service, and the key if the user has one. */
export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/**
 * Asks for what is not known, in a terminal.
 *
 * @throws UsageError when the address or the key is invalid, or the address is unknown without a terminal
 * @throws InterruptedError when the user interrupts it
 */
export async function askSettings({ baseUrl, apiKey, yes }: GivenSettings): Promise<Settings> {
  const problem = problemOf({ baseUrl, apiKey });
  if (problem !== undefined) throw new UsageError(problem);
  const asks = canPrompt() && !yes;
  if (baseUrl === undefined && !asks && !yes) {
    throw new UsageError(
      `Pass --base-url or set ACTLOG_BASE_URL: there is no terminal to ask in. --yes takes ${localAddress}.`,
    );
  }
  if (!asks) return { baseUrl: baseUrl ?? localAddress, apiKey };
  const { isCancel, password, text } = await import('@clack/prompts');
  const asked = async (reply: Promise<string | symbol | undefined>) => {
    const value = await reply;
    if (isCancel(value)) throw new InterruptedError('SIGINT');
    return typeof value === 'string' ? value.trim() || undefined : undefined;
  };
  const address =
    baseUrl ??
    (await asked(
      text({
        message: 'Address of the service ("actlog serve" starts one)',
        defaultValue: localAddress,
        placeholder: localAddress,
        validate: (value) => problemOf({ baseUrl: value?.trim() || localAddress }),
      }),
    )) ??
    localAddress;
  const key =
    apiKey ??
    (await asked(
      password({
        message: 'API key with the scope "ingest" (Enter to add it later)',
        validate: (value) => problemOf({ apiKey: value?.trim() || undefined }),
      }),
    ));
  return { baseUrl: address, apiKey: key };
}

/** Returns the reason for which the client refuses an address or a key; undefined if it takes them. */
function problemOf({ baseUrl, apiKey }: Partial<GivenSettings>): string | undefined {
  try {
    new Actlog({
      baseURL: baseUrl ?? localAddress,
      apiKey: apiKey ?? 'al_test_none',
      allowInsecureHttp: true,
      proxy: false,
    });
    return undefined;
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error.message;
    throw error;
  }
}

/** A package of a project, and the adapters for the frameworks in its package.json. */
export interface ProjectPackage {
  /** Folder relative to the project; empty for the project itself. */
  readonly path: string;
  readonly adapters: readonly Adapter[];
  /** Names of the packages of actlog that its package.json already has. */
  readonly installed: readonly string[];
}

/** A folder with the code of agents. */
export interface Project {
  readonly dir: string;
  /** Packages with a package.json: the project itself, and the members of a monorepo. */
  readonly packages: readonly ProjectPackage[];
  /** `true` if the folder has Python code. */
  readonly isPython: boolean;
}

const pythonFiles = ['pyproject.toml', 'requirements.txt', 'setup.py', 'setup.cfg', 'Pipfile', 'uv.lock'];
const workspaceFiles = ['pnpm-workspace.yaml', 'lerna.json', 'nx.json', 'rush.json', 'turbo.json'];
const skippedFolders = ['node_modules', 'dist', 'build', 'out', 'coverage', 'vendor'];

/** Reads what a folder contains. Only manifests are read. */
export function readProject(dir: string): Project {
  const root = readDependencies(dir);
  const isMonorepo =
    root?.workspaces !== undefined || workspaceFiles.some((file) => existsSync(join(dir, file)));
  const members = isMonorepo ? memberFolders(dir) : [];
  const packages = [dir, ...members].flatMap((folder) => {
    const manifest = folder === dir ? root : readDependencies(folder);
    return manifest ? [describePackage(relative(dir, folder), manifest.dependencies)] : [];
  });
  return { dir, packages, isPython: pythonFiles.some((file) => existsSync(join(dir, file))) };
}

/** Returns the folders with a package.json below a monorepo's, down to five levels. */
function memberFolders(dir: string): string[] {
  const levels = ['*', '*/*', '*/*/*', '*/*/*/*', '*/*/*/*/*'].map((level) => `${level}/package.json`);
  const exclude = (name: string) => skippedFolders.includes(name) || name.startsWith('.');
  return globSync(levels, { cwd: dir, exclude })
    .filter((path) => !path.split(/[\\/]/).some(exclude))
    .map((path) => join(dir, dirname(path)))
    .sort();
}

function describePackage(path: string, dependencies: ReadonlySet<string>): ProjectPackage {
  const known: readonly Adapter[] = [...adapters, loop];
  const matching = known.filter(({ frameworks }) => frameworks.some((name) => dependencies.has(name)));
  // OpenTelemetry does not identify the agent's framework, whose adapter sees more.
  const specific = matching.filter((adapter) => adapter.package !== '@actlog/opentelemetry');
  return {
    path,
    adapters: specific.length > 0 ? specific : matching,
    installed: [...dependencies].filter((name) => name.startsWith('@actlog/')),
  };
}

function readDependencies(
  folder: string,
): { readonly dependencies: ReadonlySet<string>; readonly workspaces: unknown } | undefined {
  try {
    const { dependencies, devDependencies, optionalDependencies, workspaces } = JSON.parse(
      decodeText(readFileSync(join(folder, 'package.json'))),
    );
    const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    return { dependencies: new Set(names), workspaces };
  } catch {
    return undefined;
  }
}
