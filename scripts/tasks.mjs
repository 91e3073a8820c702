// Every task of the repository: what it runs, in order, and what to do when a step fails.
// `npm run` shows the names; scripts/dev.mjs runs them with the right Node and pnpm on PATH.

const fromSource = ['node', '--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];

const steps = {
  format: {
    title: 'format (biome)',
    command: ['biome', 'check', '--write', '--colors=off'],
    remedy: 'fix what biome names above; it could not be mended automatically.',
  },
  lint: {
    title: 'lint (biome)',
    command: ['biome', 'ci', '--colors=off', '--error-on-warnings'],
    remedy: 'run `npm run format`, then fix by hand what is left.',
  },
  language: {
    title: 'language of sources and docs (ast-grep)',
    command: ['ast-grep', 'scan', '--report-style', 'short'],
    remedy: 'say it in the words of the glossary in CONTRIBUTING.md.',
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
    remedy: 'imports may only point as CONTRIBUTING.md draws them; move the code, or depend the other way.',
  },
  unused: {
    title: 'unused files, exports and dependencies (knip)',
    command: ['knip'],
    remedy: 'delete what is dead, or declare the dependency where it is used.',
  },
  bundle: {
    title: 'build: JavaScript (tsup)',
    command: ['tsup', '--silent'],
    remedy: 'fix the build error above.',
  },
  site: {
    title: "build: the console's page (esbuild)",
    command: [...fromSource, 'packages/console/build-site.ts'],
    remedy: 'fix the build error above.',
  },
  declarations: {
    title: 'build: declarations (tsc)',
    command: ['tsc', '--build', 'tsconfig.build.json'],
    remedy: 'fix the type errors above; `npm run clean` drops stale build state.',
  },
  commonJsTypes: {
    title: 'build: declarations for CommonJS',
    command: [...fromSource, 'scripts/commonjs-types.ts'],
    remedy: 'build the declarations first.',
  },
  apiReport: {
    title: 'API report (api-extractor)',
    command: [...fromSource, 'scripts/api-report.ts'],
    remedy: 'if the change to the public API is meant, run `npm run api-report` and commit the report.',
  },
  size: {
    title: 'size of the client (esbuild, gzip)',
    command: [...fromSource, 'bench/main.ts', 'size'],
    remedy: 'the client is over its budget: the table above says which package weighs what.',
  },
  packed: {
    title: 'packed packages (publint, attw, install and import of the tarballs)',
    command: [...fromSource, 'scripts/check-packed.ts'],
    remedy: 'fix the package.json or the build of the package that is named above.',
  },
  newcomer: {
    title: 'quick start, word for word (empty home folder, packed packages)',
    command: [...fromSource, 'scripts/check-newcomer.ts'],
    remedy: 'mend docs/quick-start.md, or what the step above does otherwise than the page says.',
  },
  billOfMaterials: {
    title: 'licences and bills of materials (pnpm sbom)',
    command: [...fromSource, 'scripts/bill-of-materials.ts'],
    remedy: 'see the packages that are named above.',
  },
  fieldDescriptions: {
    title: "what each field means in the OpenAPI document (from the schemas' comments)",
    command: [...fromSource, 'scripts/field-descriptions.ts'],
    remedy:
      'build, and write it anew: `node --conditions=@actlog/source scripts/field-descriptions.ts --write`.',
  },
  adapterTable: {
    title: "the docs' table of adapters (from the tests' harnesses)",
    command: [...fromSource, 'scripts/adapter-table.ts'],
    remedy: 'write it anew: `node --conditions=@actlog/source scripts/adapter-table.ts --write`.',
  },
  conformanceTable: {
    title: "the docs' table of requirements (from the conformance suite)",
    command: [...fromSource, 'scripts/conformance-table.ts'],
    remedy: 'write it anew: `node --conditions=@actlog/source scripts/conformance-table.ts --write`.',
  },
  docs: {
    title: 'docs (typedoc)',
    command: ['typedoc'],
    remedy: 'fix the doc comments named above; warnings are errors.',
  },
  demo: {
    command: [...fromSource, 'examples/quickstart/src/main.ts'],
    remedy: 'the message above says what the demo could not do; `npm test` narrows it down.',
  },
  examples: {
    title: 'examples',
    command: [...fromSource, 'scripts/run-examples.ts'],
    remedy:
      'run the example named above by itself: `node --conditions=@actlog/source examples/NAME/src/main.ts`.',
  },
  test: {
    command: ['vitest', 'run'],
    remedy: 'read the first failing test above; run it alone with `npm test -- PATH`.',
  },
  bench: {
    command: [...fromSource, '--expose-gc', 'bench/main.ts'],
    remedy: '`npm run bench` without a name lists what there is.',
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
    remedy: 'see the changesets that are named above.',
  },
  writeVersions: {
    title: 'versions in the sources',
    command: [...fromSource, 'scripts/write-versions.ts'],
    remedy: 'give the file that is named above its line.',
  },
  publish: {
    title: 'publish to npm (changesets)',
    command: ['changeset', 'publish'],
    remedy: 'run it again: what was published stays, and the rest follows.',
  },
  changeset: { command: ['changeset'], remedy: 'see CONTRIBUTING.md, "Changesets".' },
};

/** The steps that make what is published. */
const build = ['bundle', 'site', 'declarations', 'commonJsTypes'];

/** A task is a list of steps; arguments of the caller go to the last one. */
const tasks = {
  setup: [],
  start: ['demo'],
  test: ['test'],
  format: ['format'],
  lint: ['language', 'lint'],
  typecheck: ['types', 'siteTypes'],
  boundaries: ['boundaries'],
  build,
  'api-report': ['bundle', 'declarations', 'apiReport'],
  check: [
    'language',
    'lint',
    'types',
    'siteTypes',
    'boundaries',
    'unused',
    ...build,
    'apiReport',
    'fieldDescriptions',
    'size',
    'packed',
    'newcomer',
    'billOfMaterials',
    'adapterTable',
    'conformanceTable',
    'docs',
  ],
  'bill-of-materials': ['billOfMaterials'],
  newcomer: [...build, 'newcomer'],
  examples: ['examples'],
  docs: ['docs'],
  bench: ['bench'],
  clean: ['clean'],
  changeset: ['changeset'],
  // The lockfile names the versions of the packages among each other.
  'version-packages': ['versions', 'writeVersions', 'update'],
  release: [...build, 'publish'],
};

/** The one package whose dependencies are all that a task needs; undefined for the whole workspace. */
export function onlyPackageOf(task) {
  return task === 'start' ? '@actlog-examples/quickstart' : undefined;
}

export const taskNames = Object.keys(tasks);

export function stepsOf(task, args) {
  if (task === 'setup') return args.includes('--update') ? [steps.update] : [];
  const extra = task === 'api-report' ? ['--write', ...args] : args;
  return tasks[task].map((name, index, all) => {
    const step = steps[name];
    return index === all.length - 1 ? { ...step, command: [...step.command, ...extra] } : step;
  });
}
