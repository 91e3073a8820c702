import type { RiskJudgment, RiskJudgmentEffect } from '@actlog/client/server';
import { wholeScore } from '@actlog/protocol';
import { localTime } from '../output/local-time.ts';
import type { Detail } from '../output/print-record.ts';

/** Returns the scope of a judgment in one line. */
export function scopeText({ scope: { ruleId, toolName, agentId, sessionId } }: RiskJudgment): string {
  const parts = [
    ruleId,
    toolName && `tool ${toolName}`,
    agentId && `agent ${agentId}`,
    sessionId && `session ${sessionId}`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** Returns the effect of a judgment on past sessions in a sentence. */
export function effectText({ examined, isComplete, lowered, raised }: RiskJudgmentEffect): string {
  const changes = [lowered > 0 && `${lowered} score lower`, raised > 0 && `${raised} score higher`].filter(
    Boolean,
  );
  const limit = isComplete ? '' : '; older ones keep their scores';
  return `Of ${examined} past sessions within reach, ${changes.join(' and ') || 'none changes'}${limit}.`;
}

/** Returns the effect of a judgment as lines of a record. */
export function effectDetails(effect: RiskJudgmentEffect): Detail[] {
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
export function judgmentDetails(judgment: RiskJudgment): Detail[] {
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
