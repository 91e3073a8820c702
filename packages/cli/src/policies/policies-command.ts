import { listDecisions, type PolicyDecision } from '@actlog/client/server';
import { Command, Option } from 'commander';
import { agentText } from '../agents/agent-columns.ts';
import { addExamples, type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { UsageError } from '../errors/usage-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseTime } from '../options/duration.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { addFormatOptions, jsonText } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { print } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import type { Column } from '../output/table.ts';
import { addPoliciesBacktest } from './backtest.ts';
import { addPoliciesArchive, addPoliciesCreate, addPoliciesUpdate } from './change-policies.ts';
import { addPoliciesCheck } from './check.ts';
import { addPolicyPacks } from './packs.ts';
import type { ApplyFlags, PlanFlags } from './plan/apply-plan.ts';
import { addPoliciesPlan } from './plan.ts';
import { deciderText, effectStyle, policyColumns, policyDetails } from './policy-columns.ts';
import { addPoliciesPropose } from './propose.ts';
import { addPoliciesPull } from './pull.ts';
import type { ReportFlags } from './trial/show-report.ts';

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
      const { policiesJsonSchema } = await import('./files/policies-json-schema.ts');
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

interface Flags extends ClientFlags, PlanFlags, ApplyFlags {}

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
    .action(async (paths: string[], flags: Flags) => {
      const { readPolicyFiles } = await import('./files/read-policy-files.ts');
      const { readPlan } = await import('./plan/apply-plan.ts');
      const { confirmAndApply } = await import('./plan/apply-plan.ts');
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
      const { runPolicyTests } = await import('./trial/run-policy-tests.ts');
      const { showReport } = await import('./trial/show-report.ts');
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

const columns: readonly Column<PolicyDecision>[] = [
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
    await printList(decisions, { columns, flags, noun: 'decisions' });
  });
}
