import {
  createJudgment,
  endJudgment,
  getSessionReview,
  handleSession,
  listJudgments,
  previewJudgment,
  type RiskJudgment,
  type RiskJudgmentDraft,
  type RiskJudgmentEffect,
  reopenSession,
  type SessionNote,
  type SessionReview,
} from '@actlog/client/server';
import { wholeScore } from '@actlog/protocol';
import { Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { CanceledError } from '../errors/usage-error.ts';
import { parseEnd } from '../options/duration.ts';
import { addLimitOption, type LimitFlags, pageSizeFor, parseDays } from '../options/numbers.ts';
import { formatOf } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { note } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { type Detail, printRecord } from '../output/print-record.ts';
import { riskStyle, riskText } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/confirm.ts';

const exampleId = 'jdg_0198c1d2e3f47a5b8c6d7e8f90a1b2c3';

/** Creates the command `risk`. */
export function riskCommand(): Command {
  const risk = new Command('risk').description(
    'Corrects the risk of sessions with what people found out: expected behavior, confirmed attacks, handled sessions. Judgments need a key with the scope manage, handling one with decide.',
  );
  addJudging(risk, 'expected');
  addJudging(risk, 'attack');
  addList(risk);
  addEnd(risk);
  addReviews(risk);
  return risk;
}

interface ScopeFlags extends ClientFlags {
  readonly session?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly rule?: string;
  readonly reason: string;
  readonly until?: Date;
  readonly pastDays?: number;
  readonly preview?: true;
  readonly yes?: true;
}

const judging = {
  expected: {
    usage: 'expect',
    description: 'mark a reason for risk as expected, so that it no longer counts',
    examples: [
      [
        'actlog risk expect --rule goal.foreign-arguments --tool send_email --agent newsletter --reason "Mails the addresses in the list" --preview',
        'see what would change',
      ],
      'actlog risk expect --rule goal.detour --agent triage --reason "Reads on after each reply" --until 90d --yes',
    ],
  },
  attack: {
    usage: 'attack',
    description: 'confirm an attack: the session is critical, and what shows the same is at least high',
    examples: [
      ['actlog risk attack --session order-4711 --reason "Incident 12" --yes', 'this session alone'],
      [
        'actlog risk attack --rule goal.foreign-arguments --tool send_money --reason "Invoices of incident 12"',
        'every session with such an act',
      ],
    ],
  },
} as const;

/** Adds `risk expect` or `risk attack`. */
function addJudging(parent: Command, kind: RiskJudgmentDraft['kind']): void {
  clientCommand(parent, judging[kind])
    .optionsGroup('Scope, at least one; all that are given must match:')
    .option('--rule <id>', 'rule, as `actlog rules` and `actlog sessions risk` show it')
    .option('--tool <name>', 'tool that acts')
    .option('--agent <id>', 'agent of the session')
    .option('--session <id>', 'this session alone')
    .optionsGroup('Judgment:')
    .requiredOption('--reason <text>', 'reason, for those who read the list and the audit log')
    .option('--until <time>', 'end: a duration from now such as 90d, or an ISO 8601 time', parseEnd)
    .option(
      '--past-days <days>',
      'days of the past that it also applies to, 0 to 90; 30 by default',
      parseDays,
    )
    .addOption(new Option('--preview', 'only show how past sessions would change'))
    .option('--yes', 'save it without a question')
    .action(async (flags: ScopeFlags) => {
      const client = await connect(flags);
      const draft: RiskJudgmentDraft = {
        kind,
        scope: { sessionId: flags.session, agentId: flags.agent, toolName: flags.tool, ruleId: flags.rule },
        reason: flags.reason,
        expiresAt: flags.until?.toISOString(),
        pastDays: flags.pastDays,
      };
      if (flags.preview || !flags.yes) {
        const effect = await previewJudgment(client, draft);
        if (flags.preview) return printRecord(effect, effectDetails(effect), flags);
        note(effectText(effect));
        if (!(await confirm(`save this judgment`, flags.yes))) throw new CanceledError();
      }
      const saved = await createJudgment(client, draft);
      await printRecord(saved, [...judgmentDetails(saved.judgment), ...effectDetails(saved.effect)], flags);
    });
}

interface ListFlags extends ClientFlags, LimitFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly all?: true;
}

const columns: readonly Column<RiskJudgment>[] = [
  { title: 'JUDGMENT', value: ({ id }) => id, minWidth: 36 },
  {
    title: 'KIND',
    value: ({ kind }) => kind,
    style: ({ kind }) => (kind === 'attack' ? 'red' : 'green'),
  },
  {
    title: 'STATUS',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'active' ? 'green' : 'dim'),
  },
  { title: 'SCOPE', value: scopeText, style: () => 'bold', minWidth: 16 },
  { title: 'ENDS', value: ({ expiresAt }) => localTime(expiresAt) },
  { title: 'BY', value: ({ createdBy, createdByPrincipal }) => createdByPrincipal ?? createdBy },
  { title: 'REASON', value: ({ reason }) => reason, minWidth: 12 },
];

function addList(parent: Command): void {
  const list = clientCommand(parent, {
    usage: 'judgments',
    description: 'list what people found out, newest first',
    examples: [
      'actlog risk judgments',
      ['actlog risk judgments --all --agent newsletter', 'also those that ended'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only judgments about this agent')
    .option('--session <id>', 'only judgments about this session alone')
    .addOption(new Option('--all', 'also judgments that have ended'));
  addLimitOption(list, 'judgments').action(async (flags: ListFlags) => {
    const client = await connect(flags);
    const filters = {
      agentId: flags.agent,
      sessionId: flags.session,
      active: flags.all ? undefined : true,
      limit: pageSizeFor(flags.limit),
    };
    await printList(listJudgments(client, filters), { columns, flags, noun: 'judgments' });
  });
}

function addEnd(parent: Command): void {
  clientCommand(parent, {
    usage: 'end <judgment>',
    description: 'end a judgment; new events are scored without it',
    examples: [
      `actlog risk end ${exampleId}`,
      [`actlog risk end ${exampleId} --undo`, 'past sessions are scored without it, too'],
    ],
  })
    .addOption(new Option('--undo', 'score past sessions without it, too'))
    .action(async (id: string, flags: ClientFlags & { readonly undo?: true }) => {
      const ended = await endJudgment(await connect(flags), id, { undo: flags.undo });
      await printRecord(ended, [...judgmentDetails(ended.judgment), ...effectDetails(ended.effect)], flags);
    });
}

function reviewDetails(review: SessionReview): Detail[] {
  const { risk, riskWithoutJudgments: plain, handling, judgments } = review;
  const handledBy = handling && (handling.handledByPrincipal ?? handling.handledBy);
  return [
    ['session', review.sessionId, 'bold'],
    ['status', review.status, review.status === 'handled' ? 'green' : undefined],
    ['risk', riskText(risk), riskStyle(risk.level)],
    ['without judgments', plain.score === risk.score ? undefined : riskText(plain), riskStyle(plain.level)],
    ['judgments', judgments.map((judgment) => `${judgment.kind}: ${scopeText(judgment)}`).join('; ')],
    [
      'handled',
      handling && `${localTime(handling.handledAt)} by ${handledBy}, at ${wholeScore(handling.score)}`,
    ],
    ['reason', handling?.reason],
    ['assigned to', review.assignee],
    ...(review.notes ?? []).filter(({ kind }) => kind === 'comment').map(noteDetail),
  ];
}

function noteDetail({ writtenAt, writtenBy, writtenByPrincipal, text }: SessionNote): Detail {
  return ['comment', `${localTime(writtenAt)} ${writtenByPrincipal ?? writtenBy}: ${text}`];
}

/** Adds `risk review`, `handle` and `reopen`. */
function addReviews(parent: Command): void {
  clientCommand(parent, {
    usage: 'review <session>',
    description: 'show what people found out about a session',
    examples: ['actlog risk review order-4711'],
  }).action(async (id: string, flags: ClientFlags) => {
    const review = await getSessionReview(await connect(flags), id);
    await printRecord(review, reviewDetails(review), flags);
  });
  clientCommand(parent, {
    usage: 'handle <session>',
    description: 'mark a session as handled: it leaves the riskiest until its score rises',
    examples: ['actlog risk handle order-4711 --reason "Part of the exercise of Monday"'],
  })
    .requiredOption('--reason <text>', 'what was found out')
    .action(async (id: string, flags: ClientFlags & { readonly reason: string }) => {
      const review = await handleSession(await connect(flags), id, flags.reason);
      await printRecord(review, reviewDetails(review), flags);
      if (formatOf(flags) === 'table') note('\nIt opens again when its score rises.');
    });
  clientCommand(parent, {
    usage: 'reopen <session>',
    description: 'open a handled session again',
    examples: ['actlog risk reopen order-4711'],
  }).action(async (id: string, flags: ClientFlags) => {
    const review = await reopenSession(await connect(flags), id);
    await printRecord(review, reviewDetails(review), flags);
  });
}

/** Returns the scope of a judgment in one line. */
function scopeText({ scope: { ruleId, toolName, agentId, sessionId } }: RiskJudgment): string {
  const parts = [
    ruleId,
    toolName && `tool ${toolName}`,
    agentId && `agent ${agentId}`,
    sessionId && `session ${sessionId}`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** Returns the effect of a judgment on past sessions in a sentence. */
function effectText({ examined, isComplete, lowered, raised }: RiskJudgmentEffect): string {
  const changes = [lowered > 0 && `${lowered} score lower`, raised > 0 && `${raised} score higher`].filter(
    Boolean,
  );
  const limit = isComplete ? '' : '; older ones keep their scores';
  return `Of ${examined} past sessions within reach, ${changes.join(' and ') || 'none changes'}${limit}.`;
}

/** Returns the effect of a judgment as lines of a record. */
function effectDetails(effect: RiskJudgmentEffect): Detail[] {
  const levels = effect.levels.map(({ from, to, sessions }) => `${sessions} from ${from} to ${to}`);
  return [
    ['effect', effectText(effect)],
    ['levels', levels.join(', ')],
    ...effect.largest.slice(0, 5).map(({ sessionId, before, after }): Detail => {
      return ['session', `${sessionId}: ${wholeScore(before.score)} to ${wholeScore(after.score)}`];
    }),
  ];
}

/** Returns a judgment as lines of a record. */
function judgmentDetails(judgment: RiskJudgment): Detail[] {
  const { createdAt, createdBy, createdByPrincipal, endedAt, endedBy, endedByPrincipal } = judgment;
  return [
    ['judgment', judgment.id, 'bold'],
    ['kind', judgment.kind, judgment.kind === 'attack' ? 'red' : 'green'],
    ['status', judgment.status],
    ['scope', scopeText(judgment), 'bold'],
    ['reason', judgment.reason],
    ['by', `${createdByPrincipal ?? createdBy}, ${localTime(createdAt)}`],
    ['applies from', localTime(judgment.appliesFrom)],
    ['ends', localTime(judgment.expiresAt)],
    [
      'ended',
      endedAt &&
        `${localTime(endedAt)} by ${endedByPrincipal ?? endedBy}${judgment.isUndone ? ', undone' : ''}`,
    ],
  ];
}
