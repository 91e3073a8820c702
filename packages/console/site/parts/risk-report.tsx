import type { Risk } from '@actlog/client';
import { RiskDimensions } from './risk-dimensions.tsx';
import { RiskFactors } from './risk-factors.tsx';
import { RiskRadar } from './risk-radar.tsx';

/** A session's risk: its shape over the ten dimensions, and beside it the reasons with what to do about each. */
export function RiskReport({ risk, onShow }: { risk: Risk; onShow: (eventId: string) => void }) {
  const { dimensions } = risk;
  return (
    <div class="report">
      {dimensions !== undefined && (
        <div>
          <RiskRadar dimensions={dimensions} />
          <RiskDimensions dimensions={dimensions} />
        </div>
      )}
      <div>
        <h3>Why, and what to do</h3>
        <RiskFactors risk={risk} onShow={onShow} />
      </div>
    </div>
  );
}
