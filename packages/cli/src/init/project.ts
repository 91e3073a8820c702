import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { decodeText } from '@actlog/recorder/short-lived';
import { type Adapter, adapters, loop } from './adapters.ts';

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
  // OpenTelemetry says nothing of the agent, whose own adapter sees more.
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
