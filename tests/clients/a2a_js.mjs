// Drives @a2a-js/sdk 1.x: knows the base URL only, finds the card, sends one data part a request.
// One JSON request a line in ({ data, media?, modes? }), one JSON answer a line out. Usage: node a2a_js.mjs BASE
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { AgentCard, Message, Role } from '@a2a-js/sdk';
import { ClientFactory, ServiceParameters, withA2AExtensions } from '@a2a-js/sdk/client';

const AAP = 'https://autoagentprotocol.org/extensions/aap/v3.0';
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');

let client;
try {
  client = await new ClientFactory().createFromUrl(process.argv[2]);
  say({ ready: { card: AgentCard.toJSON(client.agentCard ?? (await client.getAgentCard())) } });
} catch (e) {
  say({ failed: { name: e.name, message: String(e.message) } });
  process.exit(1);
}
for await (const line of createInterface({ input: process.stdin })) {
  const { data, media, modes } = JSON.parse(line);
  const part = { content: { $case: 'data', value: data }, mediaType: media, filename: '', metadata: undefined };
  const message = {
    messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, metadata: undefined,
    extensions: [], referenceTaskIds: [], parts: [part],
  };
  const configuration = {
    acceptedOutputModes: modes, returnImmediately: false, historyLength: undefined, taskPushNotificationConfig: undefined,
  };
  try {
    const serviceParameters = ServiceParameters.create(withA2AExtensions([AAP]));
    const answer = await client.sendMessage({ tenant: '', metadata: undefined, message, configuration }, { serviceParameters });
    say({ message: Message.toJSON(answer), data: answer.parts?.[0]?.content?.value });
  } catch (e) {
    say({ error: { code: e.envelopeCode, message: String(e.message), data: e.data } });
  }
}
