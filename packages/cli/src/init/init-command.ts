import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { UsageError } from '../errors/usage-error.ts';
import { print } from '../output/print.ts';
import { confirm } from '../terminal/confirm.ts';
import { askSettings, type Settings } from './ask-settings.ts';
import { addEnvEntries, readEnvEntries } from './env-entries.ts';
import { type GitState, ignoreInGit } from './git-ignore.ts';
import { addHookCommands } from './hook-commands.ts';
import { addMcpCommand } from './mcp-command.ts';
import { packageManagerOf } from './package-manager.ts';
import { printSteps } from './print-steps.ts';
import { type Project, readProject } from './project.ts';

interface InitFlags {
  readonly dir: string;
  readonly baseUrl?: string;
  readonly yes?: true;
}

/** Creates the command `actlog init`. */
export function initCommand(): Command {
  const command = new Command('init')
    .description('set up a project, a coding agent or the MCP servers of a client')
    .option('--dir <folder>', 'folder of the project', '.')
    .option('--base-url <url>', 'address of the service (ACTLOG_BASE_URL)')
    .option('--yes', 'write without asking')
    .action((flags: InitFlags) => initProject(flags));
  addHookCommands(command);
  addMcpCommand(command);
  addExamples(command, [
    ['actlog init', 'in the folder of your agent'],
    ['actlog init --yes --base-url https://actlog.example.com', 'without a terminal'],
    ['actlog init claude-code --guard enforce --on-unavailable deny', 'for a coding agent'],
  ]);
  return command.addHelpText(
    'after',
    '\nThe API key is read from ACTLOG_API_KEY or asked for in a terminal. No value in .env is overwritten.',
  );
}

/** Writes the variables of a project, and prints what is left to do. */
async function initProject(flags: InitFlags): Promise<void> {
  const project = readProject(resolve(flags.dir));
  if (project.packages.length === 0 && !project.isPython) {
    throw new UsageError(
      `There is no package.json in ${project.dir}: run this in the folder of your agent, or pass --dir. For a coding agent, run "actlog init claude-code".`,
    );
  }
  const envFile = join(project.dir, '.env');
  const given = readEnvEntries(envFile);
  const setting = (name: string) => given[name]?.trim() || process.env[name]?.trim() || undefined;
  const settings = await askSettings({
    baseUrl: flags.baseUrl ?? setting('ACTLOG_BASE_URL'),
    apiKey: setting('ACTLOG_API_KEY'),
    yes: flags.yes ?? false,
  });
  if (!(await confirm(`write ACTLOG_BASE_URL and ACTLOG_API_KEY to ${envFile}`, flags.yes))) return;
  await writeSettings(project, envFile, settings);
  if (project.packages.length > 0) await printSteps(project, packageManagerOf(project.dir));
  if (project.isPython) await printPythonSteps(settings.baseUrl);
  await printEnd(project, settings);
}

async function writeSettings(
  { dir }: Project,
  file: string,
  { baseUrl, apiKey = '' }: Settings,
): Promise<void> {
  const name = relative(dir, file);
  const { added, kept } = addEnvEntries(file, { ACTLOG_BASE_URL: baseUrl, ACTLOG_API_KEY: apiKey });
  if (added.length > 0) await print(`✓ ${name}: added ${added.join(' and ')}`);
  if (kept.length > 0) await print(`✓ ${name}: kept ${kept.join(' and ')}`);
  const states: Readonly<Record<GitState, string | undefined>> = {
    none: undefined,
    ignored: `✓ git ignores ${name}`,
    added: `✓ .gitignore: added ${name}`,
    tracked: `✗ git tracks ${name}, which has the key: run "git rm --cached ${name}", and rotate a key that was committed`,
  };
  const line = states[ignoreInGit(file)];
  if (line !== undefined) await print(line);
}

async function printEnd({ dir, packages }: Project, { apiKey }: Settings): Promise<void> {
  const folder = relative(process.cwd(), dir);
  const file = folder === '' ? '.env' : join(folder, '.env');
  await print('');
  if (apiKey === undefined) {
    await print('Create a key for the agent, and add it to .env as ACTLOG_API_KEY:');
    await print("  npx actlog keys create my-agent --scopes ingest,read --agents 'AGENT*'");
    await print('AGENT is the id of the agent, which is its name in the framework.');
  }
  if (packages.length > 0) {
    await print('Start your program with the variables:');
    await print(`  node --env-file=${file} agent.js`);
  }
  await print('See that everything is in order:');
  await print(`  npx actlog doctor --env-file ${file}`);
}

/** Prints how agents in Python, or any other language, are recorded by their OpenTelemetry spans. */
async function printPythonSteps(baseUrl: string): Promise<void> {
  await print('');
  await print('Agents in Python are recorded by the OpenTelemetry spans of their framework:');
  await print(`  export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${baseUrl}/otlp/v1/traces`);
  await print('  export OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf');
  await print('  export OTEL_EXPORTER_OTLP_TRACES_HEADERS="Authorization=Bearer%20$ACTLOG_API_KEY"');
  await print('More: https://github.com/actlog/actlog/blob/main/docs/otlp.md');
}
