import { type EventMark, markWords } from '../../events/event-marks.ts';

/** Badges for the kinds of a mark. */
export function MarkBadges({ mark }: { mark: EventMark }) {
  return (
    <>
      {mark.kinds.map((kind) => (
        <span key={kind} class={`badge mark-${kind}`}>
          {markWords[kind]}
        </span>
      ))}
    </>
  );
}
