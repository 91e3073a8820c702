// The tasks of the repository: their steps in order, and the remedy for each step that fails. A step with `after` may run
// beside others once those that it names have ended.
// `npm run` lists the names; scripts/dev.mjs runs them with the right Node and pnpm on PATH.

const fromSource = ['node', '--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];

const steps = {
  format: {
    title: 'format (biome)',
    command: ['biome', 'check', '--write', '--colors=off'],
    remedy: 'fix the problems above; Biome cannot fix them automatically.',
  },
  lint: {
    title: 'lint (biome)',
    command: ['biome', 'ci', '--colors=off', '--error-on-warnings'],
    remedy: 'run `npm run format`, then fix the remaining problems by hand.',
  },
  language: {
    title: 'language of sources and docs (ast-grep)',
    command: ['ast-grep', 'scan', '--report-style', 'short'],
    remedy: 'replace the words above with terms of the glossary in CONTRIBUTING.md.',
  },
  types: {
    title: 'types (tsc)',
    command: ['tsc', '--noEmit', '--project', 'tsconfig.json'],
    remedy: 'fix the type errors above.',
  },
  siteTypes: {
    title: "types of the console's page (tsc)",
    command: ['tsc', '--project', 'packages/console/site/tsconfig.json'],
    remedy: 'fix the type errors above.',
  },
  boundaries: {
    title: 'boundaries between packages (dependency-cruiser)',
    command: [
      'depcruise',
      '--config',
      '.dependency-cruiser.cjs',
      'packages',
      'testing',
      'examples',
      'bench',
      'scripts',
    ],
    remedy: 'CONTRIBUTING.md shows the allowed imports; move the code or reverse the dependency.',
  },
  unused: {
    title: 'unused files, exports and dependencies (knip)',
    command: ['knip'],
    remedy: 'delete the unused code, or declare the dependency in the package that uses it.',
  },
  bundle: {
    title: 'build: JavaScript (tsup)',
    command: ['tsup', '--silent'],
    remedy: 'fix the build error above.',
  },
  site: {
    title: "build: the console's page (esbuild)",
    after: ['bundle'],
    command: [...fromSource, 'packages/console/build-site.ts'],
    remedy: 'fix the build error above.',
  },
  declarations: {
    title: 'build: declarations (tsc)',
    after: ['bundle'],
    command: ['tsc', '--build', 'tsconfig.build.json'],
    remedy: 'fix the type errors above; `npm run clean` deletes outdated build state.',
  },
  commonJsTypes: {
    title: 'build: declarations for CommonJS',
    after: ['declarations'],
    command: [...fromSource, 'scripts/commonjs-types.ts'],
    remedy: 'build the declarations first.',
  },
  apiReport: {
    title: 'API report (api-extractor)',
    after: ['commonJsTypes'],
    command: [...fromSource, 'scripts/api-report.ts'],
    remedy: 'if you intend the change to the public API, run `npm run api-report` and commit the report.',
  },
  size: {
    title: 'size of the client (esbuild, gzip)',
    command: [...fromSource, 'bench/main.ts', 'size'],
    remedy: 'make the client smaller: the table above has the size of each package in it.',
  },
  trips: {
    title: 'files that one operation runs through (V8 coverage)',
    command: [...fromSource, 'bench/main.ts', 'trips'],
    remedy: '`npm run bench -- trips --files` lists the files: merge those with one subject.',
  },
  packed: {
    title: 'packed packages (publint, attw, install and import of the tarballs)',
    after: ['site', 'commonJsTypes', 'docs'],
    command: [...fromSource, 'scripts/check-packed.ts'],
    remedy: 'fix the package.json or the build of the package above.',
  },
  newcomer: {
    title: 'quick start as printed (empty home folder, packed packages)',
    after: ['site', 'commonJsTypes', 'docs'],
    command: [...fromSource, 'scripts/check-newcomer.ts'],
    remedy: 'fix docs/quick-start.md, or the command above that does not do what the page says.',
  },
  billOfMaterials: {
    title: 'licenses and bills of materials (pnpm sbom)',
    command: [...fromSource, 'scripts/bill-of-materials.ts'],
    remedy: 'replace the packages above, or allow their licenses in scripts/bill-of-materials.ts.',
  },
  fieldDescriptions: {
    title: "field descriptions of the OpenAPI document (from the schemas' comments)",
    after: ['commonJsTypes'],
    command: [...fromSource, 'scripts/field-descriptions.ts'],
    remedy:
      'build, then regenerate them: `node --conditions=@actlog/source scripts/field-descriptions.ts --write`.',
  },
  adapterTable: {
    title: 'table of adapters in the docs (from the test harnesses)',
    command: [...fromSource, 'scripts/adapter-table.ts'],
    remedy: 'regenerate it: `node --conditions=@actlog/source scripts/adapter-table.ts --write`.',
  },
  conformanceTable: {
    title: 'table of requirements in the docs (from the conformance suite)',
    command: [...fromSource, 'scripts/conformance-table.ts'],
    remedy: 'regenerate it: `node --conditions=@actlog/source scripts/conformance-table.ts --write`.',
  },
  doctorTable: {
    title: 'table of problems in the docs (from `actlog doctor`)',
    command: [...fromSource, 'scripts/doctor-table.ts'],
    remedy: 'regenerate it: `node --conditions=@actlog/source scripts/doctor-table.ts --write`.',
  },
  docsTypes: {
    title: 'types of the docs site (tsc)',
    command: ['tsc', '--project', 'packages/docs/site/tsconfig.json'],
    remedy: 'fix the type errors above.',
  },
  docs: {
    title: 'build: the docs site (typedoc, vitepress), with its links',
    after: ['bundle'],
    command: [...fromSource, 'packages/docs/build-site.ts'],
    remedy: 'fix the doc comments or the links above; warnings are errors.',
  },
  demo: {
    command: [...fromSource, 'examples/quickstart/src/main.ts'],
    remedy: 'read the message above, then run `npm test` to narrow down the problem.',
  },
  examples: {
    title: 'examples',
    command: [...fromSource, 'scripts/run-examples.ts'],
    remedy: 'run the failing example alone: `node --conditions=@actlog/source examples/NAME/src/main.ts`.',
  },
  test: {
    command: ['vitest', 'run'],
    remedy: 'read the first failing test above, then run it alone with `npm test -- PATH`.',
  },
  testAll: {
    command: [...fromSource, 'scripts/test-all.ts'],
    remedy: 'read the first failing test above, then run its part alone: `npm run test:all -- PART`.',
  },
  house: {
    title: 'size and number of files',
    command: [...fromSource, 'scripts/house.ts'],
    remedy: '`npm run house -- --list` lists the files with one importer: merge one into its user.',
  },
  bench: {
    command: [...fromSource, '--expose-gc', 'bench/main.ts'],
    remedy: '`npm run bench` without a name lists the benchmarks.',
  },
  clean: {
    command: [...fromSource, 'scripts/clean.ts'],
    remedy: 'delete the dist folders by hand.',
  },
  update: {
    command: ['pnpm', 'install', '--no-frozen-lockfile'],
    remedy: 'check the versions in pnpm-workspace.yaml.',
  },
  versions: {
    title: 'versions and changelogs (changesets)',
    command: ['changeset', 'version'],
    remedy: 'fix the changesets above.',
  },
  writeVersions: {
    title: 'versions in the sources',
    command: [...fromSource, 'scripts/write-versions.ts'],
    remedy: 'state the version once in the sources of the package above.',
  },
  publish: {
    title: 'publish to npm (changesets)',
    command: ['changeset', 'publish'],
    remedy: 'run it again; it skips the packages that are already published.',
  },
  changeset: { command: ['changeset'], remedy: 'see CONTRIBUTING.md, "Changesets".' },
};

/** Steps that build the published files. */
const build = ['bundle', 'site', 'declarations', 'commonJsTypes', 'docs'];

/** Steps of each task; the last step gets the caller's arguments. */
const tasks = {
  setup: [],
  start: ['demo'],
  test: ['test'],
  'test:all': ['testAll'],
  format: ['format'],
  lint: ['language', 'lint'],
  typecheck: ['types', 'siteTypes', 'docsTypes'],
  boundaries: ['boundaries'],
  build,
  'api-report': ['bundle', 'declarations', 'apiReport'],
  // The longest way goes through the docs to the packed packages: it comes first, and the rest runs beside it.
  check: [
    'language',
    'bundle',
    'docs',
    'lint',
    'site',
    'declarations',
    'commonJsTypes',
    'types',
    'packed',
    'siteTypes',
    'docsTypes',
    'apiReport',
    'newcomer',
    'fieldDescriptions',
    'boundaries',
    'unused',
    'size',
    'house',
    'trips',
    'billOfMaterials',
    'adapterTable',
    'conformanceTable',
    'doctorTable',
  ],
  'bill-of-materials': ['billOfMaterials'],
  newcomer: [...build, 'newcomer'],
  examples: ['examples'],
  docs: ['docs'],
  bench: ['bench'],
  house: ['house'],
  clean: ['clean'],
  changeset: ['changeset'],
  // The lockfile contains the versions of the workspace's own packages.
  'version-packages': ['versions', 'writeVersions', 'update'],
  release: [...build, 'publish'],
};

/** Returns the packages that a task needs, as `prepare` of toolchain.mjs names them; undefined for none. */
export function installationOf(task, args) {
  if (task === 'setup' && args.includes('--update')) return undefined;
  return task === 'start' ? 'demo' : 'all';
}

/** Names of all tasks. */
export const taskNames = Object.keys(tasks);

/** Tasks whose steps run side by side, with the output of each in one piece. */
export const parallelTasks = ['check'];

/** Returns the steps of a task, with the caller's arguments. */
export function stepsOf(task, args) {
  if (task === 'setup') return args.includes('--update') ? [steps.update] : [];
  const extra = task === 'api-report' ? ['--write', ...args] : args;
  return tasks[task].map((name, index, all) => {
    const step = { name, after: [], ...steps[name] };
    return index === all.length - 1 ? { ...step, command: [...step.command, ...extra] } : step;
  });
}
