// What the two TypeScript drivers share: one JSON request a line in, one JSON answer a line out.
// A client library's own exception is an answer too: { failed: { name, code, message, data } }.
import { createInterface } from 'node:readline';

export async function drive(client, transport, about) {
  const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');
  const attempt = async (work) => {
    try {
      say(await work());
    } catch (e) {
      say({ failed: { name: e.name, code: e.code, message: String(e.message), data: e.data } });
    }
  };
  await attempt(async () => {
    await client.connect(transport);
    return { ready: about() };
  });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    await attempt(async () => {
      if (request.op === 'list') return await listed(client);
      return { result: await client.callTool({ name: request.name, arguments: request.arguments }) };
    });
  }
  await client.close();
}

async function listed(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor ? { cursor } : {});
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor);
  return { tools };
}
