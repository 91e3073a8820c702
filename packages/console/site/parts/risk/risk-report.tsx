import type { Risk } from '@actlog/client';
import { RiskDimensions } from './risk-dimensions.tsx';
import { RiskFactors } from './risk-factors.tsx';
import { RiskRadar } from './risk-radar.tsx';

/** Risk of a session: the radar chart and the reasons with recommendations. */
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
        <h3>Reasons and recommendations</h3>
        <RiskFactors risk={risk} onShow={onShow} />
      </div>
    </div>
  );
}
