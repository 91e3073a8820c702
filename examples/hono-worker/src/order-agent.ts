/** Tools of the agent: plain functions, unchanged for recording. */
export const orderTools = {
  async find_order({ orderId }: { orderId: string }) {
    return { orderId, status: orderId.endsWith('7') ? 'lost' : 'on its way' };
  },
  async open_claim({ orderId }: { orderId: string }) {
    if (!orderId.endsWith('7'))
      throw Object.assign(new Error('Only lost orders have claims.'), { status: 409 });
    return `claim for ${orderId}`;
  },
};

/** Answers a question about an order with tools, in place of a loop around a model. */
export async function answerQuestion(orderId: string, tools: typeof orderTools): Promise<string> {
  const { status } = await tools.find_order({ orderId });
  if (status !== 'lost') return `Order ${orderId} is ${status}.`;
  return `Order ${orderId} is lost, and we have opened a ${await tools.open_claim({ orderId })}.`;
}
