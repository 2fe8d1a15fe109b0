// The same search tool over the same database, written with the official TypeScript SDK as its own examples
// do: a server and a transport for each request, JSON answers. Only a peer to measure beside.
// node server.mjs PORT DATABASE

import { createServer } from "node:http";
import Database from "better-sqlite3";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const [port, file] = process.argv.slice(2);
const database = new Database(file, { readonly: true });
const prepared = new Map();
const statement = (sql) => {
  if (!prepared.has(sql)) prepared.set(sql, database.prepare(sql));
  return prepared.get(sql);
};

const LISTS = ["make", "model", "condition", "body"];
const BOUNDS = { price_min: "price >= ?", price_max: "price <= ?", mileage_max: "mileage <= ?" };
const COLUMNS =
  "id, vin, stock, condition, year, make, model, trim, body, fuel, driveline, color, mileage, price, rooftop, photo, options, updated_at";

function search(filters) {
  const tests = [];
  const values = [];
  for (const name of LISTS) {
    if (filters[name]) {
      tests.push(`${name} IN (${filters[name].map(() => "?").join(",")})`);
      values.push(...filters[name]);
    }
  }
  for (const [name, test] of Object.entries(BOUNDS)) {
    if (filters[name] !== undefined) {
      tests.push(test);
      values.push(filters[name]);
    }
  }
  const where = tests.length ? ` WHERE ${tests.join(" AND ")}` : "";
  const { total } = statement(`SELECT COUNT(*) AS total FROM vehicle${where}`).get(values);
  const page = `SELECT ${COLUMNS} FROM vehicle${where} ORDER BY price IS NULL, price, id LIMIT 20`;
  return { type: "inventory.search.response", data: { total, limit: 20, applied_filters: filters, vehicles: statement(page).all(values).map(listing) } };
}

function listing(row) {
  const evidence = row.options
    .split(",")
    .filter(Boolean)
    .map((label) => ({ code: label.toLowerCase().replace(" ", "_"), label, status: "present", source: "dealer's record", text: label }));
  return {
    vehicle_id: `v${row.id}`, vin: row.vin, stock: row.stock, status: "available", condition: row.condition,
    year: row.year, make: row.make, model: row.model, trim: row.trim, body: row.body, fuel: row.fuel,
    driveline: row.driveline, exterior_color: row.color, mileage: row.mileage, rooftop: row.rooftop,
    photos: [`https://dealer.example${row.photo}`], price: row.price ?? undefined,
    feature_evidence: evidence, updated_at: row.updated_at,
  };
}

const texts = z.array(z.string()).optional();
const whole = z.number().int().optional();
const inputSchema = {
  type: z.literal("inventory.search.request"),
  filters: z.object({ make: texts, model: texts, condition: texts, body: texts, price_min: whole, price_max: whole, mileage_max: whole }).default({}),
};

function server() {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  server.registerTool("aap_inventory_search", { description: "Search vehicles", inputSchema }, ({ filters }) => {
    const answer = search(filters);
    return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer };
  });
  return server;
}

createServer(async (request, response) => {
  const one = server();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on("close", () => {
    transport.close();
    one.close();
  });
  await one.connect(transport);
  await transport.handleRequest(request, response);
}).listen(Number(port), "127.0.0.1");
