"""The two services of a desktop that Switchboard uses, on the session bus of a test: notifications, and
a tray that shows nothing. Every notification is a line of JSON on stdout; a line on stdin is a command,
and is answered by a line:

  {"do": "click", "id": 3}              clicks a notification
  {"do": "tray"}                        the icon and the menu, as a list of entries
  {"do": "choose", "label": "Quit"}     chooses the entry whose label begins so
"""

import json
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NOTIFICATIONS = "org.freedesktop.Notifications"
WATCHER = "org.kde.StatusNotifierWatcher"
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"


def say(**line):
    print(json.dumps(line), flush=True)


class Notifications(dbus.service.Object):
    """Shows nothing, and remembers nothing but the last number."""

    last = 0

    @dbus.service.method(NOTIFICATIONS, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, app, replaces, icon, title, body, actions, hints, expires):
        self.last = max(self.last, int(replaces)) if replaces else self.last + 1
        shown = int(replaces) or self.last
        say(notification={"id": shown, "replaces": int(replaces), "app": app, "title": title, "body": body})
        return dbus.UInt32(shown)

    @dbus.service.method(NOTIFICATIONS, out_signature="as")
    def GetCapabilities(self):
        return ["actions", "body", "body-markup"]

    @dbus.service.method(NOTIFICATIONS, out_signature="ssss")
    def GetServerInformation(self):
        return "test", "test", "1", "1.2"

    @dbus.service.signal(NOTIFICATIONS, signature="us")
    def ActionInvoked(self, shown, action):
        pass


class Watcher(dbus.service.Object):
    """Where icons of the tray register."""

    item = None

    @dbus.service.method(WATCHER, in_signature="s", sender_keyword="sender")
    def RegisterStatusNotifierItem(self, service, sender=None):
        path = service if service.startswith("/") else "/StatusNotifierItem"
        self.item = (sender, path)
        say(tray="up")

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return {"IsStatusNotifierHostRegistered": True, "ProtocolVersion": 0}.get(name, dbus.Array([], "s"))

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return {"IsStatusNotifierHostRegistered": True}

    @dbus.service.signal(WATCHER)
    def StatusNotifierHostRegistered(self):
        pass

    def property(self, name):
        sender, path = self.item
        item = dbus.Interface(self.connection.get_object(sender, path), PROPERTIES)
        return item.Get(ITEM, name)

    def menu(self):
        sender, _ = self.item
        return dbus.Interface(self.connection.get_object(sender, self.property("Menu")), MENU)

    def entries(self):
        # Some menus are made only when somebody is about to see them.
        self.menu().AboutToShow(0)
        _, (_, _, children) = self.menu().GetLayout(0, -1, dbus.Array([], "s"))
        return [
            {
                "id": int(number),
                "label": str(properties.get("label", "")).replace("__", "_"),
                "enabled": bool(properties.get("enabled", True)),
                "checked": int(properties.get("toggle-state", -1)) == 1,
            }
            for number, properties, _ in children
            if properties.get("type") != "separator"
        ]


def obey(notifications, watcher, command):
    if command["do"] == "click":
        notifications.ActionInvoked(dbus.UInt32(command["id"]), "default")
        say(done=True)
    elif watcher.item is None:
        say(entries=None)
    elif command["do"] == "tray":
        say(entries=watcher.entries(), icon=str(watcher.property("IconName")))
    elif command["do"] == "choose":
        found = [each for each in watcher.entries() if each["label"].startswith(command["label"])]
        for each in found[:1]:
            watcher.menu().Event(each["id"], "clicked", dbus.String("", variant_level=1), dbus.UInt32(0))
        say(done=bool(found))


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    names = [dbus.service.BusName(name, bus) for name in (NOTIFICATIONS, WATCHER)]
    notifications = Notifications(bus, "/org/freedesktop/Notifications")
    watcher = Watcher(bus, "/StatusNotifierWatcher")
    loop = GLib.MainLoop()

    def read(source, _condition):
        line = source.readline()
        if not line:
            loop.quit()
            return False
        try:
            obey(notifications, watcher, json.loads(line))
        except dbus.DBusException as error:
            say(error=str(error))
        return True

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, read)
    say(ready=True)
    loop.run()
    del names


main()
