import { type Overview, riskLevels } from '@actlog/protocol';
import { countText, shareText, shortCount } from '../../count-text.ts';
import { rangeOf } from '../../overview-span.ts';
import { href } from '../../route.ts';

/** The totals of an overview, each a link to its list. */
export function Totals({ overview }: { overview: Overview }) {
  const { totals, waitingActions } = overview;
  const range = rangeOf(overview);
  const { calls, errors, denials, sessions, sessionsByLevel } = totals;
  const risky = sessionsByLevel.high + sessionsByLevel.critical;
  return (
    <ul class="totals">
      <Total
        label="Tool calls"
        count={calls}
        note={`in ${countText(sessions)} ${sessions === 1 ? 'session' : 'sessions'}`}
        to={href(['events'], range)}
      />
      <Total
        label="Errors"
        count={errors}
        note={`${shareText(errors, calls)} of calls`}
        to={href(['events'], { status: 'error', ...range })}
        tone="mark-error"
      />
      <Total
        label="Denials"
        count={denials}
        note={`${shareText(denials, calls)} of calls`}
        to={href(['events'], { status: 'denied', ...range })}
        tone="mark-denied"
      />
      <Total
        label="Risky sessions"
        count={risky}
        note={`${shareText(risky, sessions)} high or critical`}
        to={href(['sessions'], { risk: String(riskLevels.high), order: 'risk', ...range })}
        tone="mark-risk"
      />
      <Total
        label="Waiting"
        count={waitingActions}
        note="for approval, now"
        to={href(['approvals'])}
        tone="mark-held"
      />
    </ul>
  );
}

function Total({
  label,
  count,
  note,
  to,
  tone = '',
}: {
  label: string;
  count: number;
  note: string;
  to: string;
  /** Class of a count above 0. */
  tone?: string;
}) {
  return (
    <li>
      <a href={to}>
        <span>{label}</span> <b class={`number ${count > 0 ? tone : ''}`}>{shortCount(count)}</b>{' '}
        <span class="faint">{note}</span>
      </a>
    </li>
  );
}
