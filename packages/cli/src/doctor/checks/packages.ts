import { relative } from 'node:path';
import { minVersion, satisfies } from 'semver';
import { adapters, packageManagerOf } from '../../init/adapters.ts';
import { type Check, found, type Outcome, ok, skipped } from '../check.ts';
import {
  type InstalledPackage,
  type Manifest,
  readInstalledPackages,
  resolvePackage,
} from '../installed-packages.ts';

/** Check that the project has one copy of the recorder: copies share a process, but not their settings. */
export const recorderCopies: Check = {
  id: 'recorder',
  title: 'Recorder',
  run(facts) {
    const { dir } = facts.options;
    const packages = readInstalledPackages(dir);
    if (!packages) return skipped(`no package.json in ${dir}`);
    facts.packages = packages;
    const recorders = packages.packages.filter(({ manifest }) => manifest.name === '@actlog/recorder');
    if (recorders.length === 0) return skipped('@actlog/recorder is not installed in this project');
    const versions = new Set(recorders.map(({ manifest }) => manifest.version));
    if (recorders.length === 1) return ok(`@actlog/recorder ${[...versions].join()}`);
    const copies = recorders
      .map(({ folder, manifest }) => `${manifest.version} in ${relative(dir, folder)}`)
      .join(', ');
    const { dedupe } = packageManagerOf(dir);
    return found(versions.size > 1 ? 'recorder-versions' : 'recorder-copies', { copies, dedupe });
  },
};

/** Check of the adapters: the versions of their frameworks, and the adapters that are missing. */
export const frameworks: Check = {
  id: 'frameworks',
  title: 'Frameworks',
  run({ packages, options }) {
    if (!packages) return skipped(`no package.json in ${options.dir}`);
    const { project, packages: installed } = packages;
    const { add } = packageManagerOf(options.dir);
    const names = new Set<string>(adapters.map((adapter) => adapter.package));
    const present = installed.filter(({ manifest }) => names.has(manifest.name ?? ''));
    const problems = [
      ...present.flatMap((adapter) => peerProblems(adapter, add)),
      ...missingAdapters(project, present, add),
    ];
    if (problems.length > 0) return problems;
    if (present.length === 0) return skipped('no framework with an adapter in package.json');
    return ok(present.map(({ manifest }) => manifest.name).join(', '));
  },
};

function peerProblems({ folder, manifest }: InstalledPackage, install: string): Outcome[] {
  const { name: adapter = '', version = '', peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  return Object.entries(peerDependencies).flatMap(([peer, range]) => {
    const wanted = String(minVersion(range) ?? range);
    const present = resolvePackage(peer, folder)?.manifest.version;
    if (present === undefined) {
      if (peerDependenciesMeta[peer]?.optional) return [];
      return [found('peer-missing', { adapter, peer, range, install, wanted })];
    }
    if (satisfies(present, range, { includePrerelease: true })) return [];
    return [found('peer-out-of-range', { adapter, version, peer, range, found: present, install, wanted })];
  });
}

function missingAdapters(
  { dependencies = {} }: Manifest,
  present: readonly InstalledPackage[],
  install: string,
): Outcome[] {
  const names = new Set(present.map(({ manifest }) => manifest.name));
  return adapters
    .filter((adapter) => adapter.frameworks.some((name) => dependencies[name] !== undefined))
    .filter((adapter) => !names.has(adapter.package))
    .map(({ title, package: name }) =>
      found('adapter-missing', { framework: title, adapter: name, install }),
    );
}
