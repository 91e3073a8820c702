// Writes a bill of materials (CycloneDX 1.6) of every published package to sbom/, and fails if a dependency has a
// license that is not in the list below.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import satisfies from 'spdx-satisfies';
import { publishedPackages, root } from './workspace.ts';

/**
 * Accepted licenses (SPDX), which only require that their text is kept; MPL-2.0 covers only its own files, which are
 * installed unchanged.
 */
const accepted = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'Unlicense',
];

/** The properties of a CycloneDX component that this script reads. */
interface Component {
  readonly name: string;
  readonly group?: string;
  readonly version?: string;
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string };
    readonly expression?: string;
  }[];
}

function licenseOf({ licenses = [] }: Component): string {
  const names = licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '');
  return names.join(' AND ') || 'none named';
}

/** `true` if accepted licenses alone satisfy a license expression (SPDX). */
function isAccepted(expression: string): boolean {
  try {
    return satisfies(expression, accepted);
  } catch {
    return false; // no SPDX expression
  }
}

const folder = join(root, 'sbom');
rmSync(folder, { recursive: true, force: true });
const packages = publishedPackages();
const { status } = spawnSync(
  'pnpm',
  [
    'sbom',
    ...['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--prod', '--split'],
    ...['--out', join(folder, '%s.cdx.json')],
    ...packages.flatMap(({ manifest }) => ['--filter', manifest.name]),
  ],
  { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
);
if (status !== 0) throw new Error(`pnpm sbom ended with exit code ${status}.`);

const refused: string[] = [];
const seen = new Set<string>();
for (const { manifest } of packages) {
  const file = join(folder, `${manifest.name.replace('@', '').replace('/', '-')}.cdx.json`);
  const { components = [] } = JSON.parse(readFileSync(file, 'utf8')) as { components?: Component[] };
  for (const component of components) {
    const name = [component.group, component.name].filter(Boolean).join('/');
    seen.add(`${name}@${component.version}`);
    const license = licenseOf(component);
    if (!isAccepted(license))
      refused.push(`${manifest.name} depends on ${name}@${component.version}: ${license}`);
  }
}
if (refused.length > 0) {
  console.error(`These licenses are not accepted:\n${[...new Set(refused)].join('\n')}`);
  console.error('Choose another library, or add the license to the list in scripts/bill-of-materials.ts.');
  process.exitCode = 1;
} else {
  console.log(
    `${packages.length} packages have ${seen.size} dependencies; every license is accepted. See sbom/.`,
  );
}
