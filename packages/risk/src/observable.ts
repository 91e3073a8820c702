import type { DimensionId } from './risk-score.ts';
import { type SessionView, stampTallyOf, tallyOf } from './session/session-view.ts';
import { nounClassNames } from './taxonomy/nouns.ts';

const memory = nounClassNames.indexOf('memory') + 1;

const called = (view: SessionView) => tallyOf(view, 'call').count > 0;

function decided(view: SessionView): boolean {
  return (['approved', 'refused', 'lapsed', 'held'] as const).some((mark) => tallyOf(view, mark).count > 0);
}

function namesKnown(view: SessionView): boolean {
  return tallyOf(view, 'act').count > 0 || tallyOf(view, 'look').count > tallyOf(view, 'unknown').count;
}

/** Tests by dimension that return `true` if the records could have shown the dimension. */
const observable: Readonly<Record<DimensionId, (view: SessionView) => boolean>> = {
  // With origins, it shows which actions a text aimed.
  ASI01: (view) => namesKnown(view) || tallyOf(view, 'origins').count > 0,
  ASI02: called,
  ASI03: called,
  ASI04: (view) =>
    stampTallyOf(view, 'tenant_known').count > 0 || stampTallyOf(view, 'tool_confusable').count > 0,
  ASI05: namesKnown,
  ASI06: (view) => tallyOf(view, 'memory').count > 0 || view.tools.some(([, tool]) => tool.noun === memory),
  ASI07: (view) =>
    tallyOf(view, 'agent_msg').count > 0 ||
    view.state.agents.size > 1 ||
    view.state.versions.size > 1 ||
    stampTallyOf(view, 'clock_ahead').count > 0,
  ASI08: called,
  ASI09: decided,
  ASI10: (view) =>
    decided(view) ||
    tallyOf(view, 'policy_denied').count > 0 ||
    view.expected !== undefined ||
    stampTallyOf(view, 'agent_revoked').count > 0,
};

/**
 * `true` if a session's records could have shown a dimension. Otherwise its score of 0 is not an all-clear.
 */
export function isObservable(dimension: DimensionId, view: SessionView): boolean {
  return observable[dimension](view);
}
