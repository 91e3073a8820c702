import { relative } from 'node:path';
import { packageManagerOf } from '../../init/package-manager.ts';
import { type Check, found, ok, skipped } from '../check.ts';
import { readInstalledPackages } from '../installed-packages.ts';

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
