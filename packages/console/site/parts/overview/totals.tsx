import type { Overview } from '@actlog/protocol';
import { countText, shareText, shortCount } from '../../count-text.ts';
import { href } from '../../route.ts';

/** The totals of an overview, each a link to its list. */
export function Totals({ overview: { totals, waitingActions } }: { overview: Overview }) {
  const { calls, errors, denials, sessions, sessionsByLevel } = totals;
  const risky = sessionsByLevel.high + sessionsByLevel.critical;
  return (
    <ul class="totals">
      <Total
        label="Tool calls"
        count={calls}
        note={`in ${countText(sessions)} sessions`}
        to={href(['sessions'])}
      />
      <Total
        label="Errors"
        count={errors}
        note={`${shareText(errors, calls)} of calls`}
        to={href(['sessions'], { status: 'errors' })}
        tone="bad"
      />
      <Total
        label="Denials"
        count={denials}
        note={`${shareText(denials, calls)} of calls`}
        to={href(['sessions'], { status: 'denied' })}
        tone="warn"
      />
      <Total
        label="Risky sessions"
        count={risky}
        note={`${shareText(risky, sessions)} high or critical`}
        to={href(['sessions'], { order: 'risk' })}
        tone="bad"
      />
      <Total
        label="Waiting"
        count={waitingActions}
        note="for approval, now"
        to={href(['approvals'])}
        tone="warn"
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
