import type { RiskDimension } from '@actlog/client';

const radius = 100;

/** Returns the point of a score on the axis of its dimension; the first axis points up. */
function point(index: number, count: number, score: number): string {
  const angle = (index / count) * 2 * Math.PI;
  const distance = (score / 100) * radius;
  return `${(Math.sin(angle) * distance).toFixed(1)},${(-Math.cos(angle) * distance).toFixed(1)}`;
}

/** Radar chart of a risk. It repeats the table next to it, so it is hidden from screen readers. */
export function RiskRadar({ dimensions }: { dimensions: readonly RiskDimension[] }) {
  const count = dimensions.length;
  const ring = (score: number) => dimensions.map((_, index) => point(index, count, score)).join(' ');
  return (
    <svg class="radar" viewBox="-130 -118 260 236" aria-hidden="true">
      {[25, 50, 75, 100].map((score) => (
        <polygon key={score} class="ring" points={ring(score)} />
      ))}
      <polygon
        class="shape"
        points={dimensions.map(({ score }, index) => point(index, count, score)).join(' ')}
      />
      {dimensions.map(({ id }, index) => {
        const [x, y] = point(index, count, 112).split(',');
        return (
          <text key={id} x={x} y={y} text-anchor="middle" dominant-baseline="middle">
            {id.slice(-2)}
          </text>
        );
      })}
    </svg>
  );
}
