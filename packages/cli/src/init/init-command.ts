import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type AgentName, agents, type HookChange, installHook, removeHook } from '@actlog/hook';
import { decodeText } from '@actlog/recorder/short-lived';
import { Command, InvalidArgumentError, Option } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { note, print } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { styled } from '../output/style.ts';
import { confirm } from '../terminal/confirm.ts';
import { type Adapter, type PackageManager, packageManagerOf } from './adapters.ts';
import {
  askSettings,
  type Project,
  type ProjectPackage,
  readProject,
  type Settings,
} from './ask-settings.ts';

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

/** Adds `actlog init mcp`, which explains the gateway: it changes nothing by itself. */
function addMcpCommand(parent: Command): Command {
  const command = parent
    .command('mcp')
    .description('explain how to record the MCP servers of a client, such as Claude Desktop')
    .action(() => explainGateway());
  return addExamples(command, ['actlog init mcp']);
}

async function explainGateway(): Promise<void> {
  const unset = ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY'].filter((name) => !process.env[name]?.trim());
  const lines = [
    'The gateway stands between an MCP client and its servers. It records each tool call, and checks and',
    'holds it where you ask for that. Neither the client nor the server changes.',
    '',
    ...(unset.length > 0 ? [`Set ${unset.join(' and ')} first: the gateway gets them from here.`, ''] : []),
    'Put it in front of all servers of a client, and take it out again:',
    '  actlog gateway --wrap claude-desktop      or cursor, vscode, or the path of a configuration file',
    '  actlog gateway --unwrap claude-desktop',
    '',
    'Or in front of one server, in the place of its command:',
    '  actlog gateway -- npx -y @modelcontextprotocol/server-filesystem /data',
    '  actlog gateway --url https://mcp.example.com/mcp',
    '',
    'Options: actlog gateway --help. The guide: https://github.com/actlog/actlog/blob/main/docs/gateway.md',
  ];
  for (const line of lines) await print(line);
}

/** State of a file for git: `none` outside of a repository. */
type GitState = 'none' | 'ignored' | 'added' | 'tracked';

/**
 * Makes sure that git ignores a file: adds it to `.gitignore` beside it, unless a rule covers it already.
 *
 * @returns `tracked` if git has the file, which no rule changes
 * @throws the system's error when `.gitignore` cannot be written
 */
function ignoreInGit(file: string): GitState {
  const dir = dirname(file);
  if (!isInRepository(dir)) return 'none';
  const name = basename(file);
  if (git(dir, 'ls-files', '--error-unmatch', '--', name) === 0) return 'tracked';
  const ignoreFile = join(dir, '.gitignore');
  const text = existsSync(ignoreFile) ? readFileSync(ignoreFile, 'utf8') : '';
  const ignored = git(dir, 'check-ignore', '--quiet', '--', name);
  // Without git, only a line with the name counts.
  if (ignored === 0 || (ignored === undefined && text.split(/\r?\n/).includes(name))) return 'ignored';
  writeFileSync(ignoreFile, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${name}\n`);
  return 'added';
}

function isInRepository(dir: string): boolean {
  if (existsSync(join(dir, '.git'))) return true;
  return dirname(dir) !== dir && isInRepository(dirname(dir));
}

/** Runs git and returns its exit code; undefined if it is not installed. */
function git(dir: string, ...args: string[]): number | undefined {
  return spawnSync('git', args, { cwd: dir, stdio: 'ignore' }).status ?? undefined;
}

/** Prints what is left to do: packages to install, and the line to add for each framework. */
async function printSteps({ packages }: Project, manager: PackageManager): Promise<void> {
  const users = packages.filter(({ adapters }) => adapters.length > 0);
  if (users.length === 0) return printWithoutFramework(manager);
  for (const user of users) await printPackage(user, manager);
}

async function printPackage(
  { path, adapters, installed }: ProjectPackage,
  manager: PackageManager,
): Promise<void> {
  const names = new Set([...adapters.map(packageName), '@actlog/recorder']);
  const missing = [...names].filter((name) => !installed.includes(name));
  await print('');
  if (path !== '') await print(styled('bold', printable(path)));
  if (missing.length > 0) {
    await print(`Install ${missing.length === 1 ? 'the package' : 'the packages'}:`);
    const folder = path === '' ? '' : `cd ${shellWord(path)} && `;
    await print(`  ${folder}${manager.add} ${missing.join(' ')}`);
  }
  for (const { title, package: name, line } of adapters) {
    await print(
      `Add this for ${title}; the README of ${packageName({ package: name })} has a whole program:`,
    );
    await print(`  import { actlog } from '${name}';`);
    for (const text of line.split('\n')) await print(`  ${text}`);
  }
}

async function printWithoutFramework(manager: PackageManager): Promise<void> {
  await print('');
  await print('No framework with an adapter is in package.json. Record the tools of your own code:');
  await print(`  ${manager.add} @actlog/recorder`);
  await print(`  import { sharedRecorder } from '@actlog/recorder';`);
  await print('  const tools = sharedRecorder().instrument({ … });');
}

/** Returns the name of the package of an entry point, such as `@actlog/recorder` for `@actlog/recorder/loop`. */
function packageName({ package: name }: Pick<Adapter, 'package'>): string {
  return name.split('/').slice(0, 2).join('/');
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Permissions of a file that contains the API key. */
const ownerOnly = 0o600;

/** Result of {@link addEnvEntries}. */
interface EnvChange {
  /** Names that were added. */
  readonly added: readonly string[];
  /** Names that had a value, which stays. */
  readonly kept: readonly string[];
}

/** Returns the variables of a file in the format of `node --env-file`; none if it does not exist. */
function readEnvEntries(file: string): Readonly<Record<string, string | undefined>> {
  return parseEnv(readText(file));
}

/**
 * Adds variables to a file without changing a value that is there. An empty value counts as missing. Comments, order and
 * line endings stay. A file with an added variable is readable for its owner only.
 *
 * @throws the system's error when the file cannot be written
 */
function addEnvEntries(file: string, entries: Readonly<Record<string, string>>): EnvChange {
  const before = readText(file);
  const present = parseEnv(before);
  const [added, kept]: [string[], string[]] = [[], []];
  let text = before;
  for (const [name, value] of Object.entries(entries)) {
    if (present[name]) kept.push(name);
    else {
      text = withEntry(text, name, value);
      added.push(name);
    }
  }
  if (text !== before) {
    // Before the key is in it: the mode counts only for a new file.
    if (before !== '') chmodSync(file, statSync(file).mode & ownerOnly);
    writeFileSync(file, text, { mode: ownerOnly });
  }
  return { added, kept };
}

function withEntry(text: string, name: string, value: string): string {
  const empty = new RegExp(`^(\\s*(?:export\\s+)?${name}\\s*=)[^\\S\\r\\n]*(?:""|'')?[^\\S\\r\\n]*$`, 'm');
  if (empty.test(text)) return text.replace(empty, (_, start: string) => start + value);
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const start = text === '' || text.endsWith('\n') ? text : text + lineBreak;
  return `${start}${name}=${value}${lineBreak}`;
}

function readText(file: string): string {
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

interface HookFlags {
  readonly project?: true;
  readonly user?: true;
  readonly remove?: true;
  readonly dir: string;
  readonly guard?: 'off' | 'enforce';
  readonly onUnavailable?: 'allow' | 'deny';
  readonly holdTimeout?: number;
  readonly afterHold?: 'deny' | 'ask';
  readonly agentId?: string;
  readonly showArguments?: string | true;
  readonly envFile?: string;
  readonly holdPrompts?: true;
}

/** Adds `actlog init claude-code` and the like: one command for each supported coding agent. */
function addHookCommands(parent: Command): void {
  for (const [name, title] of Object.entries(agents)) {
    const command = parent
      .command(name)
      .description(`record and guard the tools of ${title} by its hooks`)
      .option('--user', 'in the settings of the user (the default)')
      .addOption(new Option('--project', 'in the settings of the project').conflicts('user'))
      .option('--dir <folder>', 'folder of the project', '.')
      .option('--remove', 'remove the hook')
      .addOption(
        new Option(
          '--guard <mode>',
          'check calls before they run (default: ACTLOG_GUARD of the agent)',
        ).choices(['off', 'enforce']),
      )
      .addOption(
        new Option('--on-unavailable <decision>', 'decision without a response of the service').choices([
          'allow',
          'deny',
        ]),
      )
      .option('--hold-timeout <seconds>', 'time to wait for an approval (default: 300)', parseSeconds)
      .addOption(
        new Option('--after-hold <decision>', 'decision when nobody approved in time').choices([
          'deny',
          'ask',
        ]),
      )
      .option(
        '--show-arguments [paths]',
        'arguments for the approver and conditions: all, or paths such as command,user.name',
      )
      .option('--agent-id <id>', 'id of the agent in events')
      .option(
        '--env-file <file>',
        'file with ACTLOG_* variables, for an agent that is not started from a shell',
      )
      .action((flags: HookFlags) => changeHook(name as AgentName, flags));
    if (name === 'claude-code' || name === 'codex') {
      command.option(
        '--hold-prompts',
        "answer the agent's permission prompts in the console or by a command, too",
      );
    }
    addExamples(command, [
      `actlog init ${name} --guard enforce --on-unavailable deny`,
      `actlog init ${name} --guard enforce --on-unavailable deny --show-arguments=command`,
      [`actlog init ${name} --remove`, 'as it was before'],
    ]);
  }
}

function parseSeconds(text: string): number {
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  if (seconds >= 0 && Number.isFinite(seconds)) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, such as 60.');
}

async function changeHook(agent: AgentName, flags: HookFlags): Promise<void> {
  const scope = flags.project ? 'project' : 'user';
  const place = { scope, projectFolder: resolve(flags.dir) } as const;
  const { guard, onUnavailable, holdTimeout, afterHold, agentId, showArguments, envFile } = flags;
  const change = flags.remove
    ? removeHook(agent, place)
    : installHook(agent, {
        ...place,
        guard,
        onUnavailable,
        holdTimeoutSeconds: holdTimeout,
        afterHold,
        agentId,
        showArguments: showArguments === true ? '*' : showArguments,
        envFile: envFile === undefined ? undefined : resolve(envFile),
        holdPrompts: flags.holdPrompts,
      });
  await report(agent, change, flags);
}

async function report(
  agent: AgentName,
  { file, outcome, notes }: HookChange,
  flags: HookFlags,
): Promise<void> {
  const unchanged = flags.remove ? 'has no hook of actlog' : 'has the hook already';
  const texts: Readonly<Record<HookChange['outcome'], string>> = {
    installed: 'installed the hook in',
    updated: 'changed the options of the hook in',
    removed: 'removed the hook from',
    unchanged,
  };
  const text = texts[outcome];
  await print(outcome === 'unchanged' ? `✓ ${file} ${text}` : `✓ ${agents[agent]}: ${text} ${file}`);
  for (const line of notes) note(line);
  if (flags.remove || flags.envFile !== undefined) return;
  const unset = ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY'].filter((name) => !process.env[name]?.trim());
  if (unset.length > 0)
    note(`Set ${unset.join(' and ')} where ${agents[agent]} is started, or pass --env-file.`);
}
