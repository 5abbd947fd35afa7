"""Addresses that lead out of a cache, or nowhere."""

_ADDRESSES = r"""https://h/../../canary.csv https://h/%2e%2e/%2e%2e/canary.csv https://h/%2E%2E%2f%2E%2E%2fcanary.csv
https://../canary.csv https://h/a/./b https://h//canary.csv /canary.csv file:///etc/passwd ../canary.csv https:///canary.csv
https://h\..\..\canary.csv https://h/..%5c..%5ccanary.csv C:\canary.csv https://h/a%00b https://h/%0a https://u:p@h/x
https://%2e%2e/%2e%2e/canary.csv https://raw.githubusercontent.com/../canary.csv ftp://h/x http://[ https://h/ https://h
https://raw.githubusercontent.com//../canary.csv https://h/.../x https://raw.githubusercontent.com/%2fetc/passwd //h/x
https://h/a/..;/b https:canary.csv https://h:99999/x https://raw.githubusercontent.com/ https://%2f/etc/passwd
https://h/%ff%fe https://h/a.csv/../../../../canary.csv https://h/a%252e%252e/b https://RAW.githubusercontent.com/../x"""
ADDRESSES = _ADDRESSES.split()
