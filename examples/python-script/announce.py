"""Drafts an announcement, approves it, and prints the result: python3 announce.py TOPIC"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ["SUPABASE_URL"]
HEADERS = {
    "apikey": os.environ["SUPABASE_PUBLISHABLE_KEY"],
    "content-type": "application/json",
}


def post(path, body):
    """Sends JSON and returns the answer. An error's body says what is wrong."""
    data = json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, HEADERS, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"{path} answered {error.code}: {error.read().decode()}")


def rpc(name, **arguments):
    return post(f"/rest/v1/rpc/{name}", arguments)


def events(task_id):
    """Yields each event of the job once, until the job has ended."""
    cursor = None
    while True:
        page = rpc("read_events", p_task_id=task_id, p_cursor=cursor)
        for event in page["events"]:
            yield event
            if event["task_id"] == task_id and event["type"] in (
                "task.completed", "task.failed", "task.cancelled",
            ):
                return
        cursor = page["next_cursor"]
        if not page["has_more"]:
            time.sleep(0.5)


user = {"email": os.environ["USER_EMAIL"], "password": os.environ["USER_PASSWORD"]}
session = post("/auth/v1/token?grant_type=password", user)
HEADERS["authorization"] = f"Bearer {session['access_token']}"

task = post("/functions/v1/supaswarm-create-task",
            {"agent": "writer", "input": {"topic": sys.argv[1]}})
for event in events(task["task_id"]):
    print(event["type"], file=sys.stderr)
    if event["type"] == "review.requested":
        rpc("respond_to_review", p_task_id=event["task_id"], p_approved=True)
    if event["type"] == "task.failed":
        sys.exit(event["data"]["error"]["message"])
    if event["type"] == "task.completed":
        print(event["data"]["output"]["announcement"])
