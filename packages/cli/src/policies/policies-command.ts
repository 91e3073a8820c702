import { existsSync } from 'node:fs';
import { listDecisions, type PolicyDecision } from '@actlog/client/server';
import { Command, Option } from 'commander';
import { agentText } from '../agents/agent-columns.ts';
import { addExamples, type ClientFlags, clientCommand } from '../command/client-command.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection/connect.ts';
import { CanceledError, UsageError } from '../errors/usage-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseTime } from '../options/duration.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { addFormatOptions, type FormatFlags, formatOf, jsonText } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { note, print, write } from '../output/print.ts';
import { printList, printTable, writeFile } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/confirm.ts';
import { addPoliciesArchive, addPoliciesCreate, addPoliciesUpdate } from './change-policies.ts';
import type { PolicyPack } from './packs/policy-pack.ts';
import type { ApplyFlags, PlanFlags } from './plan/apply-plan.ts';
import { deciderText, effectStyle, policyColumns, policyDetails } from './policy-columns.ts';
import { addPoliciesPropose } from './propose.ts';
import type { ReportFlags } from './trial/run-policy-tests.ts';
import { addPoliciesBacktest, addPoliciesCheck } from './trials.ts';

/** Creates the command `policies`. */
export function policiesCommand(): Command {
  const policies = new Command('policies').description(
    'Manages the policies that decide what agents may do.',
  );
  addPoliciesList(policies);
  addPoliciesShow(policies);
  addPoliciesCheck(policies);
  addPoliciesDecisions(policies);
  addPoliciesBacktest(policies);
  addPoliciesCreate(policies);
  addPoliciesUpdate(policies);
  addPoliciesArchive(policies);
  addPoliciesPlan(policies);
  addPoliciesApply(policies);
  addPoliciesTest(policies);
  addPoliciesPull(policies);
  addPoliciesPropose(policies);
  addPolicyPacks(policies);
  addPoliciesSchema(policies);
  return policies;
}

/** Adds `policies schema`. */
function addPoliciesSchema(parent: Command): void {
  const command = parent
    .command('schema')
    .description('print the JSON Schema of policy files, for editors')
    .action(async () => {
      const { policiesJsonSchema } = await import('./files/policies-text.ts');
      await print(jsonText(policiesJsonSchema(), 2));
    });
  addExamples(command, ['actlog policies schema > policies.schema.json']);
}

interface ListFlags extends ClientFlags, LimitFlags {
  readonly status: 'active' | 'archived' | 'all';
}

/** Adds `policies list`. */
function addPoliciesList(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'list',
    description: 'list policies, newest first',
    examples: [
      'actlog policies list',
      ['actlog policies list --status all --json', 'with archived policies'],
    ],
  })
    .optionsGroup('Filters:')
    .addOption(
      new Option('--status <status>', 'only policies with this status')
        .choices(['active', 'archived', 'all'])
        .default('active'),
    );
  addLimitOption(command, 'policies').action(async (flags: ListFlags) => {
    const client = await connect(flags);
    const status = flags.status === 'all' ? undefined : flags.status;
    const list = client.policies.list({ status, limit: pageSizeFor(flags.limit) });
    await printList(list, { columns: policyColumns, flags, noun: 'policies' });
  });
}

/** Adds `policies show`. */
function addPoliciesShow(parent: Command): void {
  clientCommand(parent, {
    usage: 'show <id>',
    description: 'show a policy',
    examples: [
      'actlog policies show pol_0198c1d2e3f47a5b8c6d7e8f90a1b2c3',
      ['actlog policies show ID --json > policy.json', 'keep a policy in a file'],
    ],
  }).action(async (id: string, flags: ClientFlags) => {
    const client = await connect(flags);
    const policy = await client.policies.get(id);
    await printRecord(policy, policyDetails(policy), flags);
  });
}

/** Adds `policies apply`. */
function addPoliciesApply(parent: Command): void {
  clientCommand(parent, {
    usage: 'apply [paths...]',
    description: 'create, change and archive policies, so that the service has those of the files',
    examples: [
      ['actlog policies apply', 'the files in the folder "policies", after a question'],
      ['actlog policies apply policies --prune --yes', 'for CI: without a question'],
    ],
  })
    .optionsGroup('Plan:')
    .option('--prune', 'archive active policies that are in no file, permanently')
    .option('--yes', 'apply without a question; needed without a terminal')
    .action(async (paths: string[], flags: ClientFlags & PlanFlags & ApplyFlags) => {
      const { readPolicyFiles } = await import('./files/read-policy-files.ts');
      const { confirmAndApply, readPlan } = await import('./plan/apply-plan.ts');
      const files = await readPolicyFiles(paths);
      const client = await connect(flags);
      await confirmAndApply(client, await readPlan(client, files, flags), flags);
    });
}

/** Adds `policies test`. */
function addPoliciesTest(parent: Command): void {
  const command = parent
    .command('test [paths...]')
    .description('run the tests in policy files, without a service; exit code 1 if one fails')
    .optionsGroup('Tests:')
    .option('--junit <file>', 'write the results as JUnit XML, too')
    .action(async (paths: string[], flags: ReportFlags) => {
      const { readPolicyFiles } = await import('./files/read-policy-files.ts');
      const { runPolicyTests, showReport } = await import('./trial/run-policy-tests.ts');
      const files = await readPolicyFiles(paths);
      if (files.tests.length === 0) {
        throw new UsageError(
          'There are no tests in these files: add a list "tests" with actions and decisions.',
        );
      }
      const report = runPolicyTests(files);
      await showReport(report, flags);
      if (report.failed > 0) process.exitCode = exitCodes.failed;
    });
  addFormatOptions(command);
  addExamples(command, [
    ['actlog policies test', 'the files in the folder "policies"'],
    ['actlog policies test policies --junit report.xml', 'for CI'],
  ]);
}

interface DecisionFlags extends ClientFlags, LimitFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly decision?: PolicyDecision['decision'];
  readonly dryRun?: boolean;
  readonly held?: boolean;
  readonly since?: Date;
  readonly until?: Date;
}

const decisionColumns: readonly Column<PolicyDecision>[] = [
  { title: 'TIME', value: ({ decidedAt }) => localTime(decidedAt) },
  { title: 'DECISION', value: ({ decision }) => decision, style: ({ decision }) => effectStyle(decision) },
  { title: 'TOOL', value: ({ toolName }) => toolName, style: () => 'bold', minWidth: 12 },
  { title: 'AGENT', value: agentText, minWidth: 12 },
  { title: 'SESSION', value: ({ sessionId }) => sessionId, minWidth: 12 },
  { title: 'DECIDED BY', value: deciderText },
  { title: 'HELD', value: ({ heldStatus }) => heldStatus ?? undefined },
  { title: 'DRY RUN', value: ({ dryRun }) => (dryRun ? 'yes' : undefined) },
];

/** Adds `policies decisions`. */
function addPoliciesDecisions(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'decisions',
    description: 'list what the policies decided, newest first; allowed actions too',
    examples: [
      ['actlog policies decisions --since 24h --decision deny', 'what was denied since yesterday'],
      ['actlog policies decisions --limit all --jsonl > decisions.jsonl', 'export all of them'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--since <time>', 'only decisions from then on: 24h, 7d, or an ISO 8601 time', parseTime)
    .option('--until <time>', 'only decisions before then', parseTime)
    .option('--agent <id>', 'only decisions about this agent')
    .option('--session <id>', 'only decisions about this session')
    .option('--tool <name>', 'only decisions about this tool')
    .addOption(
      new Option('--decision <decision>', 'only these decisions').choices([
        'allow',
        'deny',
        'require_approval',
      ]),
    )
    .option('--held', 'only calls that are or were held for an approver')
    .option('--no-held', 'no held calls')
    .option('--dry-run', 'only dry runs, such as those of a guard that observes')
    .option('--no-dry-run', 'no dry runs');
  addLimitOption(command, 'decisions').action(async (flags: DecisionFlags) => {
    const client = await connect(flags);
    const {
      agent: agentId,
      session: sessionId,
      tool: toolName,
      decision,
      dryRun,
      held,
      since,
      until,
    } = flags;
    const filters = { agentId, sessionId, toolName, decision, dryRun, held, since, until };
    const decisions = listDecisions(client, { ...filters, limit: pageSizeFor(flags.limit) });
    await printList(decisions, { columns: decisionColumns, flags, noun: 'decisions' });
  });
}

/** Exit code of `policies plan --exit-code` when there are changes, as of `terraform plan -detailed-exitcode`. */
const changesPlanned = 2;

/** Adds `policies plan`. */
function addPoliciesPlan(parent: Command): void {
  clientCommand(parent, {
    usage: 'plan [paths...]',
    description: 'show what `apply` would change: policies in files against the active ones of the service',
    examples: [
      ['actlog policies plan', 'the files in the folder "policies"'],
      ['actlog policies plan policies team.yaml --prune', 'with policies that are in no file'],
      ['actlog policies plan --prune --exit-code', 'for CI: exit code 2 if the service differs'],
    ],
  })
    .optionsGroup('Plan:')
    .option('--prune', 'archive active policies that are in no file')
    .option(
      '--exit-code',
      `exit with ${changesPlanned} if there are changes, 0 if not, and 1, 3 or 4 for errors`,
    )
    .action(async (paths: string[], flags: ClientFlags & PlanFlags & { readonly exitCode?: true }) => {
      // Loaded here, because they are slow to load and the other commands do without them.
      const { readPolicyFiles } = await import('./files/read-policy-files.ts');
      const { readPlan, showPlan } = await import('./plan/apply-plan.ts');
      const files = await readPolicyFiles(paths);
      const plan = await readPlan(await connect(flags), files, flags);
      await showPlan(plan, flags);
      if (flags.exitCode && plan.changes.length > 0) process.exitCode = changesPlanned;
    });
}

interface PullFlags extends ConnectionFlags {
  readonly json?: true;
  readonly yes?: true;
}

/** Adds `policies pull`. */
function addPoliciesPull(parent: Command): void {
  const command = parent
    .command('pull [file]')
    .description('write the active policies of the service to a file, or to standard output')
    .optionsGroup('Output:')
    .option('--json', 'write JSON, as for files with the ending .json; YAML by default')
    .option('--yes', 'overwrite the file without a question; needed without a terminal')
    .action(async (file: string | undefined, flags: PullFlags) => {
      const { policiesText } = await import('./files/policies-text.ts');
      const { readDefinitions } = await import('./plan/apply-plan.ts');
      const definitions = await readDefinitions(await connect(flags));
      const format = flags.json || file?.endsWith('.json') ? 'json' : 'yaml';
      const text = policiesText(definitions, format);
      if (file === undefined || file === '-') return write(text);
      if (existsSync(file) && !(await confirm(`overwrite the file "${file}"`, flags.yes))) {
        throw new CanceledError();
      }
      writeFile(file, text);
      const { length } = definitions;
      note(`Wrote ${length} ${length === 1 ? 'policy' : 'policies'} to ${file}.`);
    });
  addConnectionOptions(command);
  addExamples(command, [
    ['actlog policies pull policies/policies.yaml', 'start with the policies of the service'],
    'actlog policies pull --json',
  ]);
}

interface AddFlags {
  readonly folder: string;
  readonly enforce?: true;
  readonly dryRun?: true;
}

const packColumns: readonly Column<PolicyPack>[] = [
  { title: 'PACK', value: ({ name }) => name, style: () => 'bold' },
  { title: 'POLICIES', value: ({ policies }) => String(policies.length) },
  { title: 'CONTENT', value: ({ title }) => title, minWidth: 40 },
];

/** Adds `policies list-packs` and `policies add-pack`. */
function addPolicyPacks(parent: Command): void {
  const list = parent
    .command('list-packs')
    .description('list the packs of policies that come with the command')
    .action(async (flags: FormatFlags) => {
      const { readPacks } = await import('./packs/policy-pack.ts');
      const packs = readPacks();
      if (formatOf(flags) !== 'table') {
        const shown = packs.map(({ name, title, policies }) => ({ name, title, policies }));
        await print(jsonText(shown, 2));
        return;
      }
      await printTable(packs, packColumns);
    });
  addFormatOptions(list);
  addExamples(list, ['actlog policies list-packs']);
  const add = parent
    .command('add-pack <name>')
    .description('write a pack of policies with its tests to a file, or upgrade it; first as log_only')
    .optionsGroup('File:')
    .option('--folder <folder>', 'folder of the policy files', 'policies')
    .option('--enforce', 'set the mode of all policies of the pack to enforce')
    .option('--dry-run', 'show what would change, and write nothing')
    .action(async (name: string, { folder, enforce, dryRun }: AddFlags) => {
      const { addPack } = await import('./packs/add-pack.ts');
      const { file, lines, isChanged } = addPack(name, { folder, enforce: enforce === true, dryRun });
      for (const line of lines) await print(line);
      if (!isChanged) note(`${file} is up to date.`);
      else if (dryRun) note(`Nothing was written to ${file}.`);
      else note(`Wrote ${file}. Next: actlog policies test, plan and apply.`);
    });
  addExamples(add, [
    ['actlog policies add-pack shell-git', 'as log_only: it reports, and decides nothing'],
    ['actlog policies add-pack shell-git --enforce', 'once its reports are as expected'],
  ]);
}
