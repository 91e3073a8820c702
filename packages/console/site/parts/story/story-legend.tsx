import { type EventMark, markKinds, markWords } from '../../events/event-marks.ts';

/** Numbers of the events that stand out, by kind, in the colors of the strip. */
export function StoryLegend({ marks }: { marks: ReadonlyMap<string, EventMark> }) {
  const counts = markKinds.map((kind) => ({
    kind,
    count: [...marks.values()].filter(({ kinds }) => kinds.includes(kind)).length,
  }));
  return (
    <p class="mark-legend">
      {counts.map(({ kind, count }) => (
        <span key={kind} class={count > 0 ? `mark-${kind}` : 'faint'}>
          <span class="mark-swatch" aria-hidden="true" /> {count} {markWords[kind]}
        </span>
      ))}
    </p>
  );
}
